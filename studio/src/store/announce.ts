// Says things to screen readers, after half a second of quiet.

let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const place = document.getElementById("announcer");
    if (place && place.textContent !== text) place.textContent = text;
  }, 500);
}
