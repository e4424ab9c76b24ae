import approval from './templates/approval.workflow.ts?raw'
import autoReply from './templates/auto-reply.workflow.ts?raw'
import chatTasks from './templates/chat-tasks.workflow.ts?raw'
import customerBook from './templates/customer-book.workflow.ts?raw'
import digest from './templates/digest.workflow.ts?raw'
import feedReader from './templates/feed-reader.workflow.ts?raw'
import heartbeat from './templates/heartbeat.workflow.ts?raw'
import inboxTriage from './templates/inbox-triage.workflow.ts?raw'
import invoiceRegister from './templates/invoice-register.workflow.ts?raw'
import mailRouter from './templates/mail-router.workflow.ts?raw'
import orderDesk from './templates/order-desk.workflow.ts?raw'
import pageWatch from './templates/page-watch.workflow.ts?raw'
import reminders from './templates/reminders.workflow.ts?raw'
import weeklyReport from './templates/weekly-report.workflow.ts?raw'
import type { WorkflowTemplate } from './template.ts'

/** What the live demo starts. */
export const inboxTriageTemplate: WorkflowTemplate = {
  kind: 'workflow',
  id: 'inbox-triage',
  title: 'Inbox triage',
  sentence: 'Every new mail becomes one row of a sheet, exactly one, and then leaves the inbox.',
  picture: [['mail'], ['sheet'], ['archive']],
  source: inboxTriage,
}

/** From the simplest to the most particular. */
export const workflowTemplates: readonly WorkflowTemplate[] = [
  inboxTriageTemplate,
  {
    kind: 'workflow',
    id: 'heartbeat',
    title: 'Heartbeat',
    sentence: 'The smallest workflow there is: once a minute it says that it is still here.',
    picture: [['pulse'], ['chat']],
    source: heartbeat,
  },
  {
    kind: 'workflow',
    id: 'auto-reply',
    title: 'Auto reply',
    sentence: 'Answers questions, problems and thanks, never twice, and leaves the rest to people.',
    picture: [['mail'], ['reply', 'person']],
    source: autoReply,
  },
  {
    kind: 'workflow',
    id: 'order-desk',
    title: 'Order desk',
    sentence:
      'Books an order, confirms it to the customer and tells the warehouse: three steps, none skipped or repeated.',
    picture: [['mail'], ['sheet'], ['reply'], ['box']],
    source: orderDesk,
  },
  {
    kind: 'workflow',
    id: 'mail-router',
    title: 'Mail router',
    sentence: 'Sorts mails ten at a time and sends each kind down its own path.',
    picture: [['mail'], ['split'], ['money', 'chat', 'archive']],
    source: mailRouter,
  },
  {
    kind: 'workflow',
    id: 'invoice-register',
    title: 'Invoice register',
    sentence: 'Registers invoices with the day they are due and keeps a running total for the team.',
    picture: [['mail'], ['money'], ['sheet', 'chat']],
    source: invoiceRegister,
  },
  {
    kind: 'workflow',
    id: 'digest',
    title: 'Digest',
    sentence: 'Collects mails and sends them as one message: five at a time, or after ten minutes.',
    picture: [['mail', 'mail', 'mail'], ['stack'], ['chat']],
    source: digest,
  },
  {
    kind: 'workflow',
    id: 'reminders',
    title: 'Reminders',
    sentence: 'Gives people five minutes for a problem and reminds them if it is still there, even after a restart.',
    picture: [['mail'], ['clock'], ['bell']],
    source: reminders,
  },
  {
    kind: 'workflow',
    id: 'approval',
    title: 'Approval',
    sentence: 'Lets small sums pass and holds large ones until you approve them by hand.',
    picture: [['money', 'person'], ['check'], ['sheet']],
    source: approval,
  },
  {
    kind: 'workflow',
    id: 'customer-book',
    title: 'Customer book',
    sentence: 'Looks every sender up among the customers and notes the contact there.',
    picture: [['mail'], ['person'], ['sheet']],
    source: customerBook,
  },
  {
    kind: 'workflow',
    id: 'chat-tasks',
    title: 'Tasks from the chat',
    sentence: 'Turns every question that somebody asks in the chat into a task on a list.',
    picture: [['chat'], ['list']],
    source: chatTasks,
  },
  {
    kind: 'workflow',
    id: 'weekly-report',
    title: 'Weekly report',
    sentence: 'Every Monday at eight it adds up the mails and files one report, however often it is started.',
    picture: [['clock'], ['chart'], ['sheet']],
    source: weeklyReport,
  },
  {
    kind: 'workflow',
    id: 'feed-reader',
    title: 'Feed reader',
    sentence: 'Posts each new item of a feed that you name, once.',
    picture: [['feed'], ['chat']],
    source: feedReader,
    address: { label: 'Address of the feed', example: 'https://example.com/feed.xml' },
  },
  {
    kind: 'workflow',
    id: 'page-watch',
    title: 'Page watch',
    sentence: 'Looks at a page that you name every five minutes and notes when its text has changed.',
    picture: [['globe'], ['clock'], ['sheet']],
    source: pageWatch,
    address: { label: 'Address of the page', example: 'https://example.com/' },
  },
]
