import type { StoredEvent } from './event.ts'

/** Returns an event with defaults for missing fields: received at 0, organization `org_1`, domain `dom_1`. */
export function plainEvent(fields: Partial<StoredEvent> = {}): StoredEvent {
  const { seq = 1, receivedAt = 0 } = fields
  return {
    seq,
    id: `evt_${seq}`,
    ts: receivedAt,
    receivedAt,
    orgId: 'org_1',
    domainId: 'dom_1',
    env: 'prod',
    vendor: 'Google Analytics 4',
    event: 'page_view',
    account: null,
    kind: 'event',
    host: null,
    path: null,
    title: null,
    sessionId: null,
    customerId: null,
    status: null,
    execMs: null,
    durMs: null,
    bytes: null,
    version: null,
    weight: 1,
    violations: null,
    params: {},
    ...fields,
  }
}
