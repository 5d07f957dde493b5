// A drawing as a picture of points, on white, twice as fine as it is on the screen.

const FINER = 2;

export async function rasterise(svg: Blob): Promise<Blob> {
  const address = URL.createObjectURL(svg);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = FINER * (image.naturalWidth || 800);
    canvas.height = FINER * (image.naturalHeight || 600);
    const paint = canvas.getContext("2d");
    if (!paint) throw new Error("this browser cannot draw the picture");
    paint.fillStyle = "#ffffff";
    paint.fillRect(0, 0, canvas.width, canvas.height);
    paint.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((done, fail) => canvas.toBlob((b) => (b ? done(b) : fail(new Error("the picture is too large"))), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
