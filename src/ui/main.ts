import './kit/tokens.css'
import './kit/base.css'
import { mount } from 'svelte'
import App from './App.svelte'
import { connectEngine } from './client/connect-engine.ts'
import { EngineStatus } from './state/engine-status.svelte.ts'

const status = new EngineStatus()
const engine = connectEngine((reason) => status.break(reason))
globalThis.holdfast = engine
void status.read(engine)

const target = document.querySelector('#app')
if (target === null) throw new Error('index.html has no #app to mount into.')
mount(App, { target, props: { status } })
