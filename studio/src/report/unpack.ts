// The film inside a report page: what there is as JSON, columns as 32-bit numbers in base64, or one number where nothing changes.

import type { Film } from "../wire/protocol";

export interface PackedFilm {
  head: Film["head"];
  time: string;
  columns: (string | number)[];
}

export function unpack(packed: PackedFilm): Film {
  const time = floats(packed.time);
  const columns = packed.columns.map((c) => (typeof c === "number" ? new Float64Array(time.length).fill(c) : floats(c)));
  return { head: packed.head, time, columns };
}

function floats(text: string): Float64Array {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}
