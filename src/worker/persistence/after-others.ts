/** A message to oneself stands in line behind all that have arrived. A timer would come later than that, and sometimes much later. */
export function createAfterOthers(): (wake: () => void) => void {
  const { port1, port2 } = new MessageChannel()
  const waiting: (() => void)[] = []
  port1.onmessage = () => waiting.shift()?.()
  return (wake) => {
    waiting.push(wake)
    port2.postMessage(null)
  }
}
