import enrolCustomer from './templates/enrol-customer.agent.ts?raw'
import fileText from './templates/file-text.agent.ts?raw'
import greetCustomer from './templates/greet-customer.agent.ts?raw'
import publishReport from './templates/publish-report.agent.ts?raw'
import rankSenders from './templates/rank-senders.agent.ts?raw'
import readChat from './templates/read-chat.agent.ts?raw'
import readCustomers from './templates/read-customers.agent.ts?raw'
import readInbox from './templates/read-inbox.agent.ts?raw'
import sweepTopic from './templates/sweep-topic.agent.ts?raw'
import writeBriefing from './templates/write-briefing.agent.ts?raw'
import type { SessionTemplate } from './template.ts'

/** Ready-made scripts for agents, to choose from when a session is put together. */
export const agentScripts: readonly { title: string; source: string }[] = [
  { title: 'Read the inbox', source: readInbox },
  { title: 'Read the chat', source: readChat },
  { title: 'Read the customers', source: readCustomers },
  { title: 'Sweep a topic', source: sweepTopic },
  { title: 'Rank the senders', source: rankSenders },
  { title: 'Write the briefing', source: writeBriefing },
  { title: 'Publish the report', source: publishReport },
  { title: 'Enrol the customer', source: enrolCustomer },
  { title: 'Greet the customer', source: greetCustomer },
  { title: 'File it', source: fileText },
]

const sweepers = ['invoice', 'order', 'question', 'problem'].map((topic) => ({
  key: `${topic}s`,
  role: 'sweeper',
  task: { topic },
  source: sweepTopic,
}))

/** What the live demo starts. */
export const briefingTemplate: SessionTemplate = {
  kind: 'session',
  id: 'morning-briefing',
  title: 'Morning briefing',
  sentence: 'Three readers work side by side, a writer waits for all of them, a clerk files what it said.',
  picture: [['mail', 'chat', 'sheet'], ['pen'], ['archive']],
  session: {
    objective: 'Tell the team what waits for it this morning',
    strategy: 'adaptive',
    agents: [
      { key: 'inbox', role: 'reader', task: {}, source: readInbox },
      { key: 'chat', role: 'reader', task: { channel: 'general' }, source: readChat },
      { key: 'customers', role: 'reader', task: {}, source: readCustomers },
      { key: 'briefing', role: 'writer', task: {}, source: writeBriefing, dependsOn: ['inbox', 'chat', 'customers'] },
      { key: 'filing', role: 'clerk', task: { sheet: 'Briefings' }, source: fileText, dependsOn: ['briefing'] },
    ],
  },
}

export const sessionTemplates: readonly SessionTemplate[] = [
  briefingTemplate,
  {
    kind: 'session',
    id: 'inbox-sweep',
    title: 'Inbox sweep',
    sentence: 'Four agents go through the inbox at the same time, each with an eye for one kind of mail.',
    picture: [['mail'], ['money', 'box', 'chat', 'bell']],
    session: {
      objective: 'Know how much of everything is in the inbox',
      strategy: 'parallel',
      onFailure: 'continue',
      agents: sweepers,
    },
  },
  {
    kind: 'session',
    id: 'sales-report',
    title: 'Sales report',
    sentence:
      'A pipeline in three stages: collect, rank in two ways, publish. Each stage waits for the whole one before.',
    picture: [['mail', 'money'], ['chart', 'list'], ['chat']],
    session: {
      objective: 'Find the customers who matter most',
      strategy: 'pipeline',
      agents: [
        { key: 'orders', role: 'collector', task: { topic: 'order' }, source: readInbox, stage: 0 },
        { key: 'invoices', role: 'collector', task: { topic: 'invoice' }, source: readInbox, stage: 0 },
        { key: 'byMoney', role: 'analyst', task: { by: 'money' }, source: rankSenders, stage: 1 },
        { key: 'byNumber', role: 'analyst', task: { by: 'number' }, source: rankSenders, stage: 1 },
        { key: 'report', role: 'publisher', task: { channel: 'reports' }, source: publishReport, stage: 2 },
      ],
    },
  },
  {
    kind: 'session',
    id: 'new-customer',
    title: 'New customer',
    sentence: 'One after the other: enrol the customer, greet, file what was done.',
    picture: [['person'], ['chat'], ['archive']],
    session: {
      objective: 'Welcome Ines Ortega as a customer',
      strategy: 'sequential',
      agents: [
        {
          key: 'enrol',
          role: 'clerk',
          task: { name: 'Ines Ortega', email: 'ines@adventure.example' },
          source: enrolCustomer,
        },
        { key: 'greet', role: 'host', task: { channel: 'welcome' }, source: greetCustomer },
        { key: 'filing', role: 'clerk', task: { sheet: 'Welcomed' }, source: fileText },
      ],
    },
  },
]
