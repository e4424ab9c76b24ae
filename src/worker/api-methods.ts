import type { EngineApi } from './api.ts'

/**
 * Every method of the API, and whether it may simply be asked again when the leader died before it answered. A new method does
 * not compile until it is named here.
 */
const kinds: Record<keyof EngineApi, 'read' | 'command'> = {
  deployWorkflow: 'command',
  listWorkflows: 'read',
  pauseWorkflow: 'command',
  resumeWorkflow: 'command',
  archiveWorkflow: 'command',
  restoreWorkflow: 'command',
  deleteWorkflow: 'command',
  runWorkflow: 'command',
  publishEvent: 'command',
  getRun: 'read',
  listEscalations: 'read',
  resolveEscalation: 'command',
  sql: 'read',
  exportDatabase: 'read',
  storage: 'read',
  engineInfo: 'read',
  idle: 'read',
  wake: 'read',
  listTools: 'read',
  listSecrets: 'read',
  putSecret: 'command',
  removeSecret: 'command',
  secretsStatus: 'read',
  setSecretsPassphrase: 'command',
  unlockSecrets: 'command',
  getConnections: 'read',
  setConnections: 'command',
  listFolders: 'read',
  putFolder: 'command',
  removeFolder: 'command',
  demoSnapshot: 'read',
  setDemoKnobs: 'command',
  setDemoPace: 'command',
  deliverDemoMail: 'command',
  resetDemo: 'command',
}

export const methodNames: readonly string[] = Object.keys(kinds)

export const isReadMethod = (method: string): boolean => kinds[method as keyof EngineApi] === 'read'
