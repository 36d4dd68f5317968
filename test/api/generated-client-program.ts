/*
 * Uses a client that the test generates. generated-client.test.ts copies this file next to the generated folder
 * `client`, type-checks it there and runs it.
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

/** The generated client. The caller configures it with the server URL and the API key. */
export { client } from './client/client.gen.ts'

/** Returns the user to whom the API key belongs. */
export async function whoIsIt(): Promise<Whoami> {
  return (await whoami({ throwOnError })).data
}

/**
 * Creates a property, and an alert that sends notifications to `hookUrl`. Returns the property's token and the alert's
 * id.
 */
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

/** Reads the stream of changes until `heard` returns false. `heard` is called with the name and data of each event. */
export async function hear(heard: (name: string, data: StreamData) => boolean): Promise<void> {
  const listening = new AbortController()
  let name = ''
  const onSseEvent = ({ event = '' }) => {
    name = event
  }
  const { stream } = await streamChanges({ signal: listening.signal, onSseEvent })
  for await (const data of stream) if (!heard(name, data)) break
  // Aborted only after the loop has ended, because the client does not handle the rejection of a cancelled read.
  listening.abort()
}

/** Returns the open issues of one alert, or of all alerts. */
export async function openIssues(alertId?: string): Promise<Issue[]> {
  const query = { status: ['open' as const], ...(alertId === undefined ? {} : { alertId: [alertId] }) }
  return (await listIssues({ throwOnError, query })).data.issues
}

/** Returns an issue with its evidence. */
export async function investigate(id: string): Promise<IssueEvidence> {
  return (await investigateIssue({ throwOnError, path: { id } })).data
}

/** Acknowledges the issue with a note, then resolves it. Returns the status after each step and the final note. */
export async function handle(id: string): Promise<{ statuses: Issue['status'][]; notes: string | null }> {
  const path = { id }
  const acknowledged = await changeIssue({ throwOnError, path, body: { status: 'acknowledged', notes: 'on it' } })
  const resolved = await changeIssue({ throwOnError, path, body: { status: 'resolved' } })
  const { data: later } = await getIssue({ throwOnError, path })
  return { statuses: [acknowledged.data.status, resolved.data.status, later.status], notes: later.notes }
}

/** Returns the error for an alert that does not exist, without throwing. */
export async function refused(): Promise<{ status: number | undefined; message: string | undefined; data: unknown }> {
  const { data, error, response } = await getAlert({ path: { id: 'alr_none' } })
  return { status: response?.status, message: error?.error, data }
}

/** Requests the same missing alert, with a client that throws. Never returns. */
export async function refusedLoudly(): Promise<never> {
  const { data } = await getAlert({ throwOnError, path: { id: 'alr_none' } })
  throw new Error(`unexpected alert ${data.id}`)
}

/** Mistakes that the type checker must detect. Never called. */
export function mistakes(): unknown[] {
  return [
    // @ts-expect-error: a name is required
    createDomain({ body: {} }),
    // @ts-expect-error: the field does not exist
    createDomain({ body: { name: 'Shop', colour: 'red' } }),
    // @ts-expect-error: the status does not exist
    changeIssue({ path: { id: 'iss_1' }, body: { status: 'done' } }),
    // @ts-expect-error: the id of the issue is missing
    investigateIssue(),
    // @ts-expect-error: the filter does not exist
    listIssues({ query: { colour: 'red' } }),
    // @ts-expect-error: a client that does not throw may return no data
    whoami().then(({ data }) => data.email),
    // @ts-expect-error: an issue has no such field
    openIssues().then((issues) => issues.map(({ colour }) => colour)),
  ]
}
