import type { TopicWrites } from '#engine/ports/store.ts'
import type { Database } from './database.ts'

const ENSURE = `
  INSERT INTO topics (workflow_id, name, created_at) VALUES (?, ?, ?)
  ON CONFLICT (workflow_id, name) DO NOTHING`

export function createTopicRepository(database: Database): TopicWrites {
  return {
    ensure(workflowId, names, now) {
      for (const name of names) database.run(ENSURE, [workflowId, name, now])
    },
  }
}
