import type { Cast } from '../../../../test/fixtures.ts'
import { setStatus } from '../../../issues/store.ts'
import type { Db } from '../../../store/database.ts'
import { deskFixture } from '../desk/desk-setup.fixture.ts'
import { CHANNELS } from '../index.ts'
import { jiraConnector } from './jira.ts'
import { API_TOKEN, EMAIL, type jiraServer } from './jira-server.fixture.ts'

export type JiraServer = ReturnType<typeof jiraServer>

/** The integrations of a server with a fake Jira. */
export function jiraFixture(db?: Db, people?: Cast) {
  const fixture = deskFixture(db, people, { channels: [...CHANNELS], connectors: [jiraConnector] })
  const { ada, alice, call, clock, enqueue, deliver } = fixture

  const config = ({ url, isCloud }: JiraServer, more: object = {}) => ({
    url,
    apiToken: API_TOKEN,
    project: 'OPS',
    ...(isCloud ? { email: EMAIL } : {}),
    ...more,
  })
  const create = (server: JiraServer, more: object = {}) =>
    call('POST', '/v1/integrations', {
      as: ada.key,
      body: { provider: 'issue_tracker', label: 'Jira', config: config(server, more) },
    })

  /** Creates an integration with the fake Jira. */
  async function connected(server: JiraServer, more: object = {}): Promise<{ id: string; webhookUrl: string }> {
    const { status, body } = await create(server, more)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body
  }

  const enqueueTransition = (
    target: string,
    transition: 'opened' | 'reopened' | 'repeated' | 'resolved',
    issueId = 'iss_1',
  ) => fixture.tell(transition, issueId, { channels: [{ type: 'issue_tracker', target }] })

  /** Opens an issue and delivers its message. */
  async function opened(target: string, issueId = 'iss_1') {
    enqueueTransition(target, 'opened', fixture.issue(issueId))
    await deliver()
  }

  const setStatusByUser = (status: 'open' | 'acknowledged' | 'resolved' | 'muted', issueId = 'iss_1') =>
    setStatus(fixture.db, { orgId: alice.orgId, by: alice.userId, now: clock.now() }, issueId, status, enqueue)

  /** Sends a webhook call from Jira. */
  function callWebhook(webhookUrl: string, body: object, headers: Record<string, string> = {}) {
    const { pathname, search } = new URL(webhookUrl)
    return call('POST', pathname + search, { body: JSON.stringify(body), headers })
  }

  const check = (id: string) => call('POST', `/v1/integrations/${id}/test`, { as: ada.key })
  return { ...fixture, config, create, connected, enqueueTransition, opened, setStatusByUser, callWebhook, check }
}
export type JiraFixture = ReturnType<typeof jiraFixture>

/** Method and path of each request, such as `POST /issue`, without version and query. */
export const requestsSince = ({ requests }: JiraServer, from = 0) =>
  requests.slice(from).map(({ method, path }) => `${method} ${path.split('?')[0]?.replace(/^\/rest\/api\/\d/, '')}`)

/** True for a request that creates a ticket. */
export const isCreate = ({ method, url }: { method: string; url: string }) =>
  method === 'POST' && /\/api\/\d\/issue$/.test(url)
