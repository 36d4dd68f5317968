import type { AlertInput } from '../../src/alerts/alert.ts'
import type { Issue } from '../../src/issues/issue.ts'
import { ask } from '../run-program.ts'

const MAX_PAUSE_MS = 150
const NEW_ALERT_SHARE = 0.1

/**
 * Triggers notifications until the server stops. Occasionally creates another alert, whose issue is opened by the next
 * violation. Otherwise resolves an open issue manually, so that the next violation reopens it.
 */
export async function churnIssues(
  server: string,
  apiKey: string,
  alert: AlertInput,
  { random, isOver }: { random: () => number; isOver: () => boolean },
): Promise<void> {
  while (!isOver()) {
    try {
      if (random() < NEW_ALERT_SHARE) await ask('POST', `${server}/v1/alerts`, apiKey, alert)
      else await resolveOne(server, apiKey, random)
    } catch (error) {
      if (!isOver()) throw error
    }
    await Bun.sleep(random() * MAX_PAUSE_MS)
  }
}

async function resolveOne(server: string, apiKey: string, random: () => number): Promise<void> {
  const { issues }: { issues: Issue[] } = await ask('GET', `${server}/v1/issues?status=open`, apiKey)
  const issue = issues[Math.floor(random() * issues.length)]
  if (issue) await ask('PATCH', `${server}/v1/issues/${issue.id}`, apiKey, { status: 'resolved' })
}
