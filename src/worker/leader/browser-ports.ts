import type { TabChannel, TabPorts } from './ports.ts'

function openBroadcastChannel(name: string): TabChannel {
  const broadcast = new BroadcastChannel(name)
  let isOpen = true
  const channel: TabChannel = {
    post(message) {
      if (isOpen) broadcast.postMessage(message)
    },
    onMessage: null,
    close() {
      isOpen = false
      broadcast.close()
    },
  }
  broadcast.onmessage = ({ data }: MessageEvent<unknown>) => channel.onMessage?.(data)
  return channel
}

export const browserPorts = (): TabPorts => ({
  locks: {
    request: async (name, options, whileHeld) => {
      await navigator.locks.request(name, options, whileHeld)
    },
  },
  openChannel: openBroadcastChannel,
  now: () => performance.timeOrigin + performance.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, ms)
    return () => clearTimeout(timer)
  },
  newId: () => crypto.randomUUID(),
})
