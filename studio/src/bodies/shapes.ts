// Meshes of bodies and joints, each about its own centre, in its own axes.

import {
  BoxGeometry, CapsuleGeometry, CylinderGeometry, ExtrudeGeometry, Matrix4, Mesh, MeshStandardMaterial, Object3D, Path, Shape, SphereGeometry, TorusGeometry,
  Vector3, type BufferGeometry, type Material,
} from "three";
import type { SceneBody } from "../wire/protocol";

const X = new Vector3(1, 0, 0);
const Y = new Vector3(0, 1, 0);
const Z = new Vector3(0, 0, 1);

/** The mesh of a body. A rod is a link with an eye at each end, flat across the axis that it turns about. */
export function bodyMesh(body: SceneBody, flatAcross: Vector3 | null, material: Material, extent: number): Object3D {
  const { shape } = body;
  const small = 0.02 * extent;
  if (!shape) return new Mesh(new SphereGeometry(small, 24, 16), material);
  switch (shape.kind) {
    case "rod": return rod(shape.length, Math.max(shape.radius, 0.01 * extent), flatAcross, material);
    case "ball": return new Mesh(new SphereGeometry(Math.max(shape.radius, 1e-3 * extent), 40, 24), material);
    case "cylinder": {
      const geometry = new CylinderGeometry(shape.radius, shape.radius, shape.length, 48);
      return new Mesh(geometry.rotateZ(Math.PI / 2), material);
    }
    case "box": {
      const [a, b, c] = shape.edges.map((e) => Math.max(e, 1e-3 * extent)) as [number, number, number];
      const geometry: BufferGeometry = new BoxGeometry(a, b, c);
      if (shape.axes) geometry.applyMatrix4(axesOf(shape.axes));
      return new Mesh(geometry, material);
    }
  }
}

/** Principal axes, as columns; a mirrored set is a rotation after one axis is turned round. */
function axesOf(axes: [number, number, number][]): Matrix4 {
  const column = (k: number): Vector3 => new Vector3(...([0, 1, 2].map((i) => axes[i]?.[k] ?? 0) as [number, number, number]));
  const [x, y, z] = [column(0), column(1), column(2)];
  if (x.clone().cross(y).dot(z) < 0) z.negate();
  return new Matrix4().makeBasis(x, y, z);
}

function rod(length: number, radius: number, flatAcross: Vector3 | null, material: Material): Object3D {
  if (!flatAcross || Math.abs(flatAcross.clone().normalize().x) > 0.5) {
    const geometry = new CapsuleGeometry(radius, length, 12, 24);
    return new Mesh(geometry.rotateZ(Math.PI / 2), material);
  }
  const w = 1.7 * radius;
  const outline = new Shape();
  outline.absarc(length / 2, 0, w, -Math.PI / 2, Math.PI / 2, false);
  outline.absarc(-length / 2, 0, w, Math.PI / 2, (3 * Math.PI) / 2, false);
  outline.closePath();
  for (const side of [-1, 1]) {
    const hole = new Path();
    hole.absarc((side * length) / 2, 0, 0.45 * w, 0, 2 * Math.PI, true);
    outline.holes.push(hole);
  }
  if (length > 6 * w) {
    const slot = new Path();
    const half = length / 2 - 2.2 * w;
    slot.absarc(half, 0, 0.4 * w, Math.PI / 2, -Math.PI / 2, true);
    slot.absarc(-half, 0, 0.4 * w, -Math.PI / 2, Math.PI / 2, true);
    outline.holes.push(slot);
  }
  const depth = 1.1 * w;
  const geometry = new ExtrudeGeometry(outline, { depth, bevelEnabled: true, bevelThickness: 0.08 * w, bevelSize: 0.08 * w, bevelSegments: 2, curveSegments: 24 });
  geometry.translate(0, 0, -depth / 2);
  // From the x–y plane to across the axis.
  const z = flatAcross.clone().addScaledVector(X, -flatAcross.x).normalize();
  geometry.applyMatrix4(new Matrix4().makeBasis(X, z.clone().cross(X), z));
  return new Mesh(geometry, material);
}

/** What shows a joint: a pin along its axis, a ball, a ring. The axis is z. */
export function jointMesh(kind: string, size: number, material: Material): Object3D {
  switch (kind) {
    case "Revolute": case "Cylindrical": case "Screw": case "Pin": case "Wheel": return new Mesh(new CylinderGeometry(size, size, 4.2 * size, 24).rotateX(Math.PI / 2), material);
    case "Spherical": case "Bushing": return new Mesh(new SphereGeometry(1.25 * size, 24, 16), material);
    case "Universal": return new Mesh(new TorusGeometry(1.4 * size, 0.4 * size, 12, 24), material);
    case "Weld": case "Weld2": return new Mesh(new BoxGeometry(size, size, size), material);
    default: return new Mesh(new SphereGeometry(0.8 * size, 20, 12), material);
  }
}

/** Joints along whose axis something slides. */
export function slides(kind: string): boolean {
  return ["Prismatic", "Cylindrical", "Screw", "PointOnLine", "Slider", "Slot"].includes(kind);
}

/** A bar from one place to another, of length one along y until it is stretched. */
export function stretchBar(radius: number, material: Material): Mesh {
  return new Mesh(new CylinderGeometry(radius, radius, 1, 16), material);
}

export function layBar(bar: Object3D, a: Vector3, b: Vector3): void {
  const along = b.clone().sub(a);
  const length = along.length();
  bar.visible = length > 1e-9;
  if (!bar.visible) return;
  bar.position.copy(a).addScaledVector(along, 0.5);
  bar.quaternion.setFromUnitVectors(Y, along.divideScalar(length));
  bar.scale.set(1, length, 1);
}

/** An arrow of length one along y until it is laid. */
export class Arrow extends Object3D {
  private readonly shaft: Mesh;
  private readonly tip: Mesh;

  constructor(private readonly radius: number, colour: string) {
    super();
    // A force is seen also inside of a body.
    const material = new MeshStandardMaterial({ color: colour, roughness: 0.5, depthTest: false, transparent: true, opacity: 0.92 });
    this.shaft = new Mesh(new CylinderGeometry(radius, radius, 1, 16), material);
    this.tip = new Mesh(new CylinderGeometry(0, 2.4 * radius, 6 * radius, 20), material);
    this.add(this.shaft, this.tip);
  }

  lay(from: Vector3, along: Vector3): void {
    const length = along.length();
    this.visible = length > 1e-9;
    if (!this.visible) return;
    const tip = Math.min(6 * this.radius, length);
    this.position.copy(from);
    this.quaternion.setFromUnitVectors(Y, along.clone().divideScalar(length));
    this.shaft.scale.set(1, Math.max(length - tip, 1e-6), 1);
    this.shaft.position.y = (length - tip) / 2;
    this.tip.scale.setScalar(tip / (6 * this.radius));
    this.tip.position.y = length - tip / 2;
  }
}

export { X, Y, Z };
