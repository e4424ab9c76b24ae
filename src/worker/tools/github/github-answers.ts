import * as v from 'valibot'

/** Only what scripts need, flat and stable, whatever else GitHub sends. */
const user = v.nullish(v.object({ login: v.string() }), null)
const text = v.nullish(v.string(), '')

export const issueAnswer = v.pipe(
  v.object({
    number: v.number(),
    title: v.string(),
    body: text,
    state: v.string(),
    html_url: v.string(),
    user,
    labels: v.optional(v.array(v.union([v.string(), v.object({ name: text })])), []),
    comments: v.optional(v.number(), 0),
    created_at: v.string(),
    updated_at: v.string(),
    pull_request: v.optional(v.unknown()),
  }),
  v.transform((issue) => ({
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    url: issue.html_url,
    author: issue.user?.login ?? '',
    labels: issue.labels.map((label) => (typeof label === 'string' ? label : label.name)),
    comments: issue.comments,
    createdAt: issue.created_at,
    updatedAt: issue.updated_at,
    isPullRequest: issue.pull_request !== undefined,
  })),
)

export const commentAnswer = v.pipe(
  v.object({ id: v.number(), html_url: v.string(), body: text }),
  v.transform((comment) => ({ id: comment.id, url: comment.html_url, body: comment.body })),
)

export const releaseAnswer = v.pipe(
  v.object({
    id: v.number(),
    tag_name: v.string(),
    name: text,
    body: text,
    html_url: v.string(),
    author: user,
    draft: v.boolean(),
    prerelease: v.boolean(),
    published_at: v.nullish(v.string(), null),
  }),
  v.transform((release) => ({
    id: release.id,
    tag: release.tag_name,
    name: release.name,
    body: release.body,
    url: release.html_url,
    author: release.author?.login ?? '',
    isDraft: release.draft,
    isPrerelease: release.prerelease,
    publishedAt: release.published_at,
  })),
)

export const notificationAnswer = v.pipe(
  v.object({
    id: v.string(),
    reason: v.string(),
    unread: v.boolean(),
    updated_at: v.string(),
    subject: v.object({ title: v.string(), type: v.string() }),
    repository: v.object({ full_name: v.string() }),
  }),
  v.transform((notification) => ({
    id: notification.id,
    reason: notification.reason,
    isUnread: notification.unread,
    updatedAt: notification.updated_at,
    title: notification.subject.title,
    type: notification.subject.type,
    repo: notification.repository.full_name,
  })),
)
