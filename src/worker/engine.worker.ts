import { expose } from 'comlink'
import { joinTabs } from './tab.ts'

// In the first tick: a message that reaches a module worker during a top-level await is lost. Each method waits for a leader.
expose(joinTabs())
