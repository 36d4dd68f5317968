import { pageGroupOf, releaseOf } from './derived-segments.ts'
import { NO_SEGMENTS, type Segments, type StoredEvent } from './event.ts'

/** Event fields that a test sets. */
export type EventFields = Partial<Omit<StoredEvent, 'segments'>> & { segments?: Partial<Segments> }

/**
 * Returns an event with defaults for missing fields: received at 0, organization `org_1`, domain `dom_1`, segments that
 * follow from its version and path.
 */
export function plainEvent({ segments, ...fields }: EventFields = {}): StoredEvent {
  const { seq = 1, receivedAt = 0, path = null, version = null } = fields
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
    segments: { ...NO_SEGMENTS, release: releaseOf(version), pageGroup: pageGroupOf(path), ...segments },
    weight: 1,
    violations: null,
    params: {},
    ...fields,
  }
}
