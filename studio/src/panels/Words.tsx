// A sentence of the engine: names in backticks become italic serif, as on the graph.

export function Words({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 === 1 ? <i key={i} className="name">{part}</i> : part))}</>;
}
