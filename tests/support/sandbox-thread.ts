import { serveSandbox } from '#worker/sandbox/serve-sandbox.ts'
import type { ToThread } from '#worker/sandbox/thread.ts'
import { parentPort } from 'node:worker_threads'

const serve = serveSandbox((message) => parentPort?.postMessage(message))
parentPort?.on('message', (message: ToThread) => serve(message))
