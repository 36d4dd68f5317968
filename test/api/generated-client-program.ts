/*
 * Written against a client that does not lie here: generated-client.test.ts copies this file beside the folder `client`
 * that it generates, has it type-checked there and runs it.
 */
import {
  type AlertInput,
  changeIssue,
  createAlert,
  createDomain,
  createIntegration,
  getAlert,
  getIssue,
  type Issue,
  type IssueEvidence,
  investigateIssue,
  listIssues,
  type StreamData,
  streamChanges,
  type Whoami,
  whoami,
} from './client/index.ts'

const throwOnError = true

/** What the generated functions take the server's address and the API key from. */
export { client } from './client/client.gen.ts'

/** Who the API key is. */
export async function whoIsIt(): Promise<Whoami> {
  return (await whoami({ throwOnError })).data
}

/** Makes a property and an alert that tells `hookUrl`. Answers the property's token and the alert's id. */
export async function setUp(hookUrl: string): Promise<{ token: string; alertId: string }> {
  const { data: domain } = await createDomain({
    throwOnError,
    body: { name: 'Shop', monitoredUrls: ['https://shop.example/'] },
  })
  const { data: integration } = await createIntegration({
    throwOnError,
    body: { provider: 'webhook', config: { url: hookUrl } },
  })
  const body: AlertInput = {
    name: 'No addresses in purchases',
    alertType: 'data_validation',
    severity: 'critical',
    domainId: domain.id,
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
    period: '1h',
    channels: [{ type: 'webhook', target: integration.id }],
  }
  const { data: alert } = await createAlert({ throwOnError, body })
  return { token: domain.token, alertId: alert.id }
}

/** Hears what changes while `heard`, which gets each event's name and data, answers true. */
export async function hear(heard: (name: string, data: StreamData) => boolean): Promise<void> {
  const listening = new AbortController()
  let name = ''
  const onSseEvent = ({ event = '' }) => {
    name = event
  }
  const { stream } = await streamChanges({ signal: listening.signal, onSseEvent })
  for await (const data of stream) if (!heard(name, data)) break
  // Not before the loop has ended: the client lets the rejection of what it cancels go unhandled.
  listening.abort()
}

/** The open issues, of one alert or of all. */
export async function openIssues(alertId?: string): Promise<Issue[]> {
  const query = { status: ['open' as const], ...(alertId === undefined ? {} : { alertId: [alertId] }) }
  return (await listIssues({ throwOnError, query })).data.issues
}

/** What is known about the issue. */
export async function investigate(id: string): Promise<IssueEvidence> {
  return (await investigateIssue({ throwOnError, path: { id } })).data
}

/** Acknowledges the issue with a note, then resolves it. Answers its status after each step, and the note at the end. */
export async function handle(id: string): Promise<{ statuses: Issue['status'][]; notes: string | null }> {
  const path = { id }
  const acknowledged = await changeIssue({ throwOnError, path, body: { status: 'acknowledged', notes: 'on it' } })
  const resolved = await changeIssue({ throwOnError, path, body: { status: 'resolved' } })
  const { data: later } = await getIssue({ throwOnError, path })
  return { statuses: [acknowledged.data.status, resolved.data.status, later.status], notes: later.notes }
}

/** What a program that does not ask for exceptions is told about an alert that does not exist. */
export async function refused(): Promise<{ status: number | undefined; message: string | undefined; data: unknown }> {
  const { data, error, response } = await getAlert({ path: { id: 'alr_none' } })
  return { status: response?.status, message: error?.error, data }
}

/** The same to one that does; never comes back. */
export async function refusedLoudly(): Promise<never> {
  const { data } = await getAlert({ throwOnError, path: { id: 'alr_none' } })
  throw new Error(`there is ${data.id}`)
}

/** Mistakes that the types must find; never called. */
export function mistakes(): unknown[] {
  return [
    // @ts-expect-error: a name is needed
    createDomain({ body: {} }),
    // @ts-expect-error: there is no such field
    createDomain({ body: { name: 'Shop', colour: 'red' } }),
    // @ts-expect-error: there is no such status
    changeIssue({ path: { id: 'iss_1' }, body: { status: 'done' } }),
    // @ts-expect-error: which issue?
    investigateIssue(),
    // @ts-expect-error: there is no such filter
    listIssues({ query: { colour: 'red' } }),
    // @ts-expect-error: without the throwing there may be no answer
    whoami().then(({ data }) => data.email),
    // @ts-expect-error: an issue has no such field
    openIssues().then((issues) => issues.map(({ colour }) => colour)),
  ]
}
