// The stage: bodies, joints, forces and paths, drawn at a time, seen by a camera that orbits or follows.
//
// **Invariant:** the stage draws only what the film says, and only when something has changed.

import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, DirectionalLight, GridHelper, Group, Line, LineBasicMaterial, Matrix4, Mesh, MeshStandardMaterial, Object3D,
  BoxGeometry, HemisphereLight, PCFShadowMap, PerspectiveCamera, PlaneGeometry, Quaternion, Raycaster, Scene, ShadowMaterial, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { number } from "../plots/format";
import type { Film, SceneBody, SceneJoint } from "../wire/protocol";
import { forceAt, largestForce, numberAt, pictureAt, reachOf, roomOf, vectorAt, type Vec } from "./film";
import { Arrow, bodyMesh, jointMesh, layBar, slides, stretchBar, Y, Z } from "./shapes";

export type ViewName = "front" | "top" | "iso";

export const VIEWS: [ViewName, string][] = [["front", "Front"], ["top", "Top"], ["iso", "Iso"]];

/** A word beside a joint or body, moved with it. */
export interface Tag {
  name: string;
  kind: "joint" | "body";
  x: number;
  y: number;
  /** Behind the camera or out of sight. */
  isHidden: boolean;
  force: number | null;
}

export interface Look {
  theme: string;
  forces: boolean;
  paths: boolean;
  selected: string | null;
  follow: string | null;
}

interface Actor {
  body: SceneBody;
  group: Group;
  material: MeshStandardMaterial;
  path: Line;
}

/** The longest arrow, as part of the size of the scene. */
const LONGEST_ARROW = 0.8;
const RUNS = ["--run1", "--run2", "--run3", "--run4"];

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Width of one picture of a strip, and the room for its time, in pixels. */
const STRIP_WIDTH = 480;
const STRIP_FOOT = 32;

export class Stage {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly actors: Actor[] = [];
  private readonly joints: { joint: SceneJoint; marker: Object3D; bar: Mesh | null; arrow: Arrow | null }[] = [];
  private readonly pushes: { arrow: Arrow; at: number; force: number; planar: boolean }[] = [];
  private readonly extent: number;
  private readonly centre: Vector3;
  private readonly up: Vector3;
  private readonly arrowScale: number;
  readonly largest: number;
  private time = 0;
  private look: Look | null = null;
  private waiting = 0;
  private followed: Vector3 | null = null;

  constructor(
    private readonly place: HTMLCanvasElement,
    private readonly film: Film,
    private readonly drawn: (tags: Tag[]) => void,
  ) {
    this.renderer = new WebGLRenderer({ canvas: place, antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    const { low, high } = roomOf(film);
    this.centre = new Vector3(...low).add(new Vector3(...high)).multiplyScalar(0.5);
    this.extent = Math.max(new Vector3(...high).sub(new Vector3(...low)).length(), 1e-6);
    this.up = new Vector3(...film.head.up).normalize();
    this.largest = largestForce(film);
    this.arrowScale = this.largest > 0 ? (LONGEST_ARROW * this.extent) / this.largest : 0;
    this.camera.up.copy(this.up);
    this.camera.near = 0.01 * this.extent;
    this.camera.far = 60 * this.extent;
    this.controls = new OrbitControls(this.camera, place);
    this.controls.minDistance = 0.15 * this.extent;
    this.controls.maxDistance = 12 * this.extent;
    this.controls.addEventListener("change", () => this.ask());
    this.build(low);
    this.see("iso");
  }

  dispose(): void {
    cancelAnimationFrame(this.waiting);
    this.controls.dispose();
    this.scene.traverse((o) => {
      if (o instanceof Mesh || o instanceof Line) o.geometry.dispose();
    });
    this.renderer.dispose();
  }

  // ---------------------------------------------------------------- making

  private build(low: Vec): void {
    this.lights();
    this.floor(low);
    const steel = new MeshStandardMaterial({ color: "#aab2bd", roughness: 0.35, metalness: 0.6 });
    const dark = new MeshStandardMaterial({ color: "#39424f", roughness: 0.8 });
    this.film.head.bodies.forEach((body, i) => this.actors.push(this.actor(body, i)));
    for (const joint of this.film.head.joints) this.addJoint(joint, steel, dark);
    for (const push of this.film.head.pushes) {
      const arrow = this.newArrow("--effort");
      this.pushes.push({ arrow, at: push.at, force: push.force, planar: push.planar });
    }
    this.scene.traverse((o) => {
      if (o instanceof Mesh && !(o.material instanceof ShadowMaterial)) {
        o.castShadow = true;
        o.receiveShadow = true;
      }
    });
  }

  private lights(): void {
    const sun = new DirectionalLight("#ffffff", 2.2);
    const side = this.side();
    sun.position.copy(this.centre).addScaledVector(this.up, 2 * this.extent).addScaledVector(side, 1.1 * this.extent).addScaledVector(this.depth(), 1.3 * this.extent);
    sun.target.position.copy(this.centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    const reach = 1.1 * this.extent;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * this.extent, far: 6 * this.extent });
    sun.shadow.bias = -0.0005;
    const sky = new HemisphereLight("#ffffff", "#9aa3ad", 1.4);
    sky.position.copy(this.up);
    this.scene.add(sun, sun.target, sky, new AmbientLight("#ffffff", 0.5));
  }

  /** To the right of somebody who looks from the front. */
  private side(): Vector3 {
    const x = new Vector3(1, 0, 0);
    const side = x.addScaledVector(this.up, -x.dot(this.up));
    return side.length() > 0.3 ? side.normalize() : new Vector3(0, 1, 0);
  }

  /** Towards somebody who looks from the front. */
  private depth(): Vector3 {
    return this.side().cross(this.up);
  }

  private floorHeight(low: Vec): number {
    const { high } = roomOf(this.film);
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new Vector3(k & 1 ? low[0] : high[0], k & 2 ? low[1] : high[1], k & 4 ? low[2] : high[2]).dot(this.up));
    return Math.min(...corners) - 0.06 * this.extent;
  }

  private floor(low: Vec): void {
    const height = this.floorHeight(low);
    const turn = new Quaternion().setFromUnitVectors(Y, this.up);
    const base = this.centre.clone().addScaledVector(this.up, height - this.centre.dot(this.up));
    const grid = new GridHelper(6 * this.extent, 36, token("--line2"), token("--line"));
    grid.name = "grid";
    const shade = new Mesh(new PlaneGeometry(8 * this.extent, 8 * this.extent).rotateX(-Math.PI / 2), new ShadowMaterial({ opacity: 0.16 }));
    shade.receiveShadow = true;
    for (const flat of [grid, shade]) {
      flat.position.copy(base);
      flat.quaternion.copy(turn);
    }
    this.scene.add(grid, shade);
  }

  private actor(body: SceneBody, i: number): Actor {
    const colour = token(RUNS[i % RUNS.length] as string);
    const material = new MeshStandardMaterial({ color: colour, roughness: 0.55, metalness: 0.05 });
    const group = new Group();
    group.name = body.name;
    group.add(bodyMesh(body, this.hingeAxis(body), material, this.extent));
    this.arms(body, group, material);
    const points = new Float32Array(3 * this.film.time.length);
    for (let k = 0; k < this.film.time.length; k++) points.set(vectorAt(this.film, body.r, body.planar, [k, 0]), 3 * k);
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3));
    const path = new Line(geometry, new LineBasicMaterial({ color: colour, transparent: true, opacity: 0.75 }));
    this.scene.add(group, path);
    return { body, group, material, path };
  }

  /** The axis of a hinge of the body, in its own axes: what a link is flat across. */
  private hingeAxis(body: SceneBody): Vector3 | null {
    if (body.planar) return Z.clone();
    for (const joint of this.film.head.joints) {
      if (!joint.holds.includes(body.name) || joint.axis === null || !["Revolute", "Cylindrical"].includes(joint.class)) continue;
      const inverse = this.turnOf(body, [0, 0]).invert();
      return this.axisOf(joint, [0, 0]).applyQuaternion(inverse);
    }
    return null;
  }

  /** A joint that sits away from a body hangs on an arm. */
  private arms(body: SceneBody, group: Group, material: MeshStandardMaterial): void {
    if (body.shape?.kind === "rod") return;
    const centre = new Vector3(...vectorAt(this.film, body.r, body.planar, [0, 0]));
    const inverse = this.turnOf(body, [0, 0]).invert();
    for (const joint of this.film.head.joints) {
      if (joint.isLine) continue;
      joint.holds.forEach((name, end) => {
        if (name !== body.name) return;
        const at = new Vector3(...vectorAt(this.film, end === 0 ? joint.a : joint.b, joint.planar, [0, 0])).sub(centre).applyQuaternion(inverse);
        if (at.length() < 0.6 * reachOf(body.shape)) return;
        const arm = stretchBar(0.011 * this.extent, material);
        layBar(arm, new Vector3(), at);
        group.add(arm);
      });
    }
  }

  private newArrow(colour: string): Arrow {
    const arrow = new Arrow(0.007 * this.extent, token(colour));
    arrow.renderOrder = 1;
    this.scene.add(arrow);
    return arrow;
  }

  private addJoint(joint: SceneJoint, steel: MeshStandardMaterial, dark: MeshStandardMaterial): void {
    const size = 0.016 * this.extent;
    const marker = jointMesh(joint.class, size, steel);
    marker.name = joint.name;
    const bar = joint.isLine ? stretchBar(0.006 * this.extent, steel) : null;
    if (bar) this.scene.add(bar);
    this.scene.add(marker);
    const arrow = joint.force !== null && joint.isVector ? this.newArrow("--effort") : null;
    this.joints.push({ joint, marker, bar, arrow });
    const isGrounded = (end: 0 | 1): boolean => joint.holds[end] !== "" && !this.film.head.bodies.some((b) => b.name === joint.holds[end]);
    if (isGrounded(0)) {
      if (slides(joint.class) && joint.axis !== null) this.rails(joint, steel, dark);
      else this.post(new Vector3(...vectorAt(this.film, joint.a, joint.planar, [0, 0])), dark);
    }
  }

  /** What stands on the floor under a place that does not move. */
  private post(at: Vector3, dark: MeshStandardMaterial, width = 0.035): void {
    const { low } = roomOf(this.film);
    const height = at.dot(this.up) - this.floorHeight(low);
    if (height <= 0) return;
    const side = width * this.extent;
    const post = new Mesh(new BoxGeometry(side, height, side), dark);
    post.quaternion.setFromUnitVectors(Y, this.up);
    post.position.copy(at).addScaledVector(this.up, -height / 2).addScaledVector(this.depth(), -1.2 * side);
    this.scene.add(post);
  }

  /** Two rails along the way that something slides, on posts. */
  private rails(joint: SceneJoint, steel: MeshStandardMaterial, dark: MeshStandardMaterial): void {
    const axis = this.axisOf(joint, [0, 0]);
    const origin = new Vector3(...vectorAt(this.film, joint.a, joint.planar, [0, 0]));
    let [low, high] = [Infinity, -Infinity];
    for (let i = 0; i < this.film.time.length; i++) {
      const s = new Vector3(...vectorAt(this.film, joint.b, joint.planar, [i, 0])).sub(origin).dot(axis);
      low = Math.min(low, s);
      high = Math.max(high, s);
    }
    const slack = 0.06 * this.extent;
    const across = axis.clone().cross(this.up);
    const aside = across.length() > 0.1 ? across.normalize() : this.side();
    for (const way of [-1, 1]) {
      const shift = aside.clone().multiplyScalar(way * 0.05 * this.extent);
      const [a, b] = [low - slack, high + slack].map((s) => origin.clone().addScaledVector(axis, s).add(shift)) as [Vector3, Vector3];
      const rail = stretchBar(0.008 * this.extent, steel);
      layBar(rail, a, b);
      this.scene.add(rail);
      for (const end of [a, b]) this.post(end, dark, 0.02);
    }
  }

  // ---------------------------------------------------------------- reading

  private turnOf(body: SceneBody, at: [number, number]): Quaternion {
    if (body.planar) return new Quaternion().setFromAxisAngle(Z, numberAt(this.film, body.turn, at));
    const one = (i: number): Quaternion => {
      const e = (k: number): number => this.film.columns[body.turn + k]?.[i] ?? 0;
      return new Quaternion().setFromRotationMatrix(new Matrix4().set(e(0), e(1), e(2), 0, e(3), e(4), e(5), 0, e(6), e(7), e(8), 0, 0, 0, 0, 1));
    };
    const [i, part] = at;
    const first = one(i);
    return part > 0 ? first.slerp(one(Math.min(i + 1, this.film.time.length - 1)), part) : first;
  }

  /** The axis of a joint in inertial axes; out of the plane for a hinge in one. */
  private axisOf(joint: SceneJoint, at: [number, number]): Vector3 {
    if (joint.axis === null) return Z.clone();
    const axis = vectorAt(this.film, joint.axis, joint.planar, at);
    const n = joint.planar ? 2 : 3;
    const out = [0, 0, 0];
    for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) out[i] = (out[i] as number) + numberAt(this.film, joint.aTurn + n * i + k, at) * (axis[k] as number);
    return new Vector3(...(out as Vec)).normalize();
  }

  // ---------------------------------------------------------------- showing

  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.ask();
  }

  show(time: number, look: Look): void {
    this.time = time;
    const isNewTheme = this.look?.theme !== look.theme;
    if (this.look?.follow !== look.follow) this.followed = null;
    this.look = look;
    if (isNewTheme) this.recolour();
    this.ask();
  }

  /** The picture at several times, side by side under their times, as they are seen now. */
  strip(times: number[]): HTMLCanvasElement {
    const paper = document.createElement("canvas");
    const [width, height] = [this.place.width, this.place.height];
    const shrink = Math.min(1, STRIP_WIDTH / width);
    const [w, h] = [Math.round(width * shrink), Math.round(height * shrink)];
    paper.width = times.length * w;
    paper.height = h + STRIP_FOOT;
    const context = paper.getContext("2d");
    const now = this.time;
    times.forEach((t, i) => {
      this.time = t;
      this.draw();
      if (!context) return;
      context.fillStyle = token("--canvas");
      context.fillRect(i * w, 0, w, paper.height);
      context.drawImage(this.place, i * w, 0, w, h);
      context.fillStyle = token("--ink");
      context.font = `16px ${token("--sans")}`;
      context.textAlign = "center";
      context.fillText(`${number(t, 3)} s`, (i + 0.5) * w, h + 20);
      context.fillStyle = token("--line");
      if (i > 0) context.fillRect(i * w, 0, 1, paper.height);
    });
    this.time = now;
    this.draw();
    return paper;
  }

  /** Looks from a known side. */
  see(view: ViewName): void {
    const [side, depth] = [this.side(), this.depth()];
    const way = { front: depth.clone(), top: this.up.clone().addScaledVector(depth, 1e-3), iso: depth.clone().addScaledVector(side, 0.55).addScaledVector(this.up, 0.42) }[view];
    const distance = 1.4 * this.extent;
    const target = this.followed ?? this.centre;
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(way.normalize(), distance);
    this.controls.update();
    this.ask();
  }

  /** Turns the camera, for keys: a step to the right and one upwards, and nearer. */
  orbit(right: number, upwards: number, nearer: number): void {
    const from = this.camera.position.clone().sub(this.controls.target);
    from.applyAxisAngle(this.up, right);
    const aside = this.up.clone().cross(from).normalize();
    const tilted = from.clone().applyAxisAngle(aside, -upwards);
    if (Math.abs(tilted.clone().normalize().dot(this.up)) < 0.995) from.copy(tilted);
    this.camera.position.copy(this.controls.target).addScaledVector(from, nearer);
    this.controls.update();
    this.ask();
  }

  /** The body under a point of the picture; none where there is none. */
  bodyAt(x: number, y: number): string | null {
    const { width, height } = this.place.getBoundingClientRect();
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.camera);
    const hit = ray.intersectObjects(this.actors.map((a) => a.group))[0];
    for (let o: Object3D | null = hit?.object ?? null; o; o = o.parent) {
      if (this.actors.some((a) => a.group === o)) return o.name;
    }
    return null;
  }

  private recolour(): void {
    this.actors.forEach((a, i) => {
      const colour = new Color(token(RUNS[i % RUNS.length] as string));
      a.material.color.copy(colour);
      (a.path.material as LineBasicMaterial).color.copy(colour);
    });
    const grid = this.scene.getObjectByName("grid");
    if (grid instanceof GridHelper) {
      const fresh = new GridHelper(6 * this.extent, 36, token("--line2"), token("--line"));
      grid.geometry.dispose();
      grid.geometry = fresh.geometry;
    }
  }

  private ask(): void {
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    if (!this.look) return;
    const at = pictureAt(this.film.time, this.time);
    this.place3d(at, this.look);
    this.follow(this.look);
    this.renderer.render(this.scene, this.camera);
    this.drawn(this.tags(at));
  }

  private place3d(at: [number, number], look: Look): void {
    for (const { body, group, material, path } of this.actors) {
      group.position.set(...vectorAt(this.film, body.r, body.planar, at));
      group.quaternion.copy(this.turnOf(body, at));
      material.emissive.set(look.selected === body.name ? token("--select") : "#000000");
      material.emissiveIntensity = look.selected === body.name ? 0.35 : 0;
      path.visible = look.paths && (look.selected === null || look.selected === body.name);
    }
    for (const { joint, marker, bar, arrow } of this.joints) {
      const [a, b] = [joint.a, joint.b].map((c) => new Vector3(...vectorAt(this.film, c, joint.planar, at))) as [Vector3, Vector3];
      marker.position.copy(b);
      marker.quaternion.setFromUnitVectors(Z, joint.planar && joint.class === "Pin" ? Z : this.axisOf(joint, at));
      if (bar) layBar(bar, a, b);
      if (!arrow || joint.force === null) continue;
      arrow.lay(b, new Vector3(...vectorAt(this.film, joint.force, joint.planar, at)).multiplyScalar(this.arrowScale));
      arrow.visible &&= look.forces;
    }
    for (const push of this.pushes) {
      const force = new Vector3(...vectorAt(this.film, push.force, push.planar, at)).multiplyScalar(this.arrowScale);
      push.arrow.lay(new Vector3(...vectorAt(this.film, push.at, push.planar, at)).sub(force), force);
      push.arrow.visible &&= look.forces;
    }
  }

  /** The camera keeps its distance to the body it follows. */
  private follow(look: Look): void {
    const actor = this.actors.find((a) => a.body.name === look.follow);
    if (!actor) {
      this.followed = null;
      return;
    }
    const now = actor.group.position.clone();
    const by = now.clone().sub(this.followed ?? this.controls.target);
    this.followed = now;
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.camera.lookAt(this.controls.target);
  }

  private tags(at: [number, number]): Tag[] {
    const { width, height } = this.place.getBoundingClientRect();
    const tag = (name: string, kind: Tag["kind"], p: Vector3, force: number | null): Tag => {
      const seen = p.clone().project(this.camera);
      return { name, kind, x: ((seen.x + 1) / 2) * width, y: ((1 - seen.y) / 2) * height, isHidden: seen.z > 1 || Math.abs(seen.x) > 1 || Math.abs(seen.y) > 1, force };
    };
    const joints = this.joints.map(({ joint, marker }) => tag(joint.name, "joint", marker.position, forceAt(this.film, joint, at)));
    const bodies = this.actors.map((a) => tag(a.body.name, "body", a.group.position, null));
    return [...joints, ...bodies];
  }

  /** Where the bodies are now, for those who cannot see the picture and for tests. */
  places(): { name: string; at: Vec }[] {
    const at = pictureAt(this.film.time, this.time);
    return this.film.head.bodies.map((b) => ({ name: b.name, at: vectorAt(this.film, b.r, b.planar, at) }));
  }
}
