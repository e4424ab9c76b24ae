import { serveSandbox } from './serve-sandbox.ts'
import type { ToThread } from './thread.ts'

// The listener is there before anything is awaited: a message that found none would be lost.
const serve = serveSandbox((message) => postMessage(message))

addEventListener('message', ({ data }: MessageEvent<ToThread>) => serve(data))
