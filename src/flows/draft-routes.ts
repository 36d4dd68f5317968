import { privacyFrom } from '../conditions/privacy-settings.ts'
import type { Clock } from '../core/clock.ts'
import { DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Type } from '../core/schema.ts'
import { type Route, route } from '../http/route.ts'
import { eventSearch } from '../insights/event-search.ts'
import type { Caller, Sources } from '../insights/insight.ts'
import type { Db } from '../store/database.ts'
import { type History, withSignal } from '../warehouse/warehouse.ts'
import type { Sighting } from './draft.ts'
import { draftOf, draftOfRecording } from './draft.ts'
import { DraftInputSchema } from './draft-input.ts'
import { DraftProcesses, draftInputOf } from './draft-process.ts'
import { ExpectationSchema } from './expectation.ts'
import { RecordingSchema } from './recorder-export.ts'

export interface DraftDeps {
  db: Db
  clock: Clock
  warehouse: History
  /** Retention period of events in milliseconds. */
  retentionMs: number
  privacySettingsOf(orgId: string): Parameters<typeof privacyFrom>[0]
  processes?: DraftProcesses
}

/** Maximum body size in bytes. A HAR includes the content of a page's scripts and images. */
const HAR_BYTES = 32 * 1024 * 1024

const DraftSchema = Closed(
  {
    recording: RecordingSchema,
    expectations: Type.Array(ExpectationSchema),
    missingBodies: Type.Array(
      Closed({
        entry: Type.Integer({ minimum: 0, description: 'Index in `log.entries`' }),
        host: Type.String(),
        reason: Type.String(),
      }),
      { description: 'Up to 50 requests in the HAR that were skipped because their bodies are missing' },
    ),
    skippedSteps: Type.Array(
      Closed({
        step: Type.Integer({ minimum: 0, description: 'Index in `steps` of the given recording' }),
        type: Type.String({ description: 'Kind of the step; empty when it has none' }),
        reason: Type.String({ description: 'The omitted part and the reason' }),
      }),
      { description: 'Up to 200 steps of the recording that were left out, or that lost some of their selectors' },
    ),
  },
  {
    $id: 'FlowDraft',
    examples: [
      {
        recording: { title: 'Visit of shop.example', steps: [{ type: 'navigate', url: 'https://shop.example/' }] },
        expectations: [{ step: 0, vendor: 'Google Analytics 4', event: 'page_view' }],
        missingBodies: [],
        skippedSteps: [],
      },
    ],
  },
)

/** Returns the route `POST /v1/flows/drafts`. */
export function draftRoutes({
  db,
  clock,
  warehouse,
  retentionMs,
  privacySettingsOf,
  processes = new DraftProcesses(),
}: DraftDeps): Route[] {
  return [
    route({
      id: 'draftFlowTest',
      method: 'POST',
      path: '/v1/flows/drafts',
      access: 'edit',
      asynchronous: true,
      unparsed: true,
      tag: 'Flow tests',
      summary: 'Draft a flow test from a visitor’s session, a HAR or a recording',
      description:
        'Returns its pages and events for a person to complete. Nothing is stored. A draft from a session or a HAR contains neither clicks nor personal data. A draft from a recording contains the steps that can be executed, unchanged.',
      refusals: ['notFound', 'tooLarge', 'rateLimited', 'unavailable'],
      question: true,
      maxBodyBytes: HAR_BYTES,
      body: DraftInputSchema,
      answer: DraftSchema,
      async handle({ principal, body, signal }) {
        const bytes = body as unknown as Uint8Array
        const { orgId } = principal
        const settings = privacySettingsOf(orgId)
        const { sessionId, recording } = processes.takes(bytes) ? {} : draftInputOf(bytes)
        if (recording !== undefined) return draftOfRecording(recording) as never
        if (sessionId === undefined) {
          return (await processes.draft(bytes, { orgId, privacy: settings, signal })) as never
        }
        const privacy = privacyFrom(settings)
        const sources = { db, history: withSignal(warehouse, signal), privacy: () => privacy, retentionMs }
        const sightings = await sightingsOfSession(sessionId, sources, { principal, now: clock.now() })
        return draftOf({ sightings }, 'sessionId', privacy) as never
      },
    }),
  ]
}

/** Maximum duration of a session. Of a longer session, only the end is used. */
const MAX_SESSION_MS = DAY_MS
const MAX_EVENTS = 1000
const AT_ONCE = 200

/** The sources from which the events of a session are read. */
type SessionSources = Pick<Sources, 'db' | 'history' | 'privacy' | 'retentionMs'>

/**
 * Returns the stored events of a visitor's session in chronological order. Includes only events that a browser would
 * send again. When there are more than 1,000 events, returns the most recent ones. Values are masked for callers who
 * may not see personal data.
 * @throws {AppError} `notFound` when the organization has no events in this session
 */
async function sightingsOfSession(sessionId: string, sources: SessionSources, caller: Caller): Promise<Sighting[]> {
  const from = Math.max(0, caller.now - sources.retentionMs)
  const [newest] = (await search({ sessionId, from, limit: 1 })).events
  if (!newest) throw new AppError('notFound', 'sessionId: no events of this session are stored')
  const { domainId, receivedAt } = newest
  const window = {
    sessionId,
    domainId,
    from: Math.max(0, receivedAt - MAX_SESSION_MS),
    to: receivedAt + 1,
    limit: AT_ONCE,
  }
  const found: Found[] = []
  let cursor: string | null = null
  do {
    const answer = await search({ ...window, ...(cursor !== null && { cursor }) })
    found.push(...answer.events)
    cursor = answer.nextCursor
  } while (cursor !== null && found.length < MAX_EVENTS)
  return found
    .toSorted((a, b) => a.ts - b.ts || a.seq - b.seq)
    .map(({ kind, ts, host, path, vendor, event, account, params }) => ({
      at: ts,
      pageUrl: host === null ? null : `https://${host}${path ?? '/'}`,
      event: kind === 'event' ? { vendor, event, account, params } : null,
    }))

  function search(input: Parameters<typeof eventSearch.answer>[1]) {
    return eventSearch.answer(sources as Sources, input, caller)
  }
}

type Found = Awaited<ReturnType<typeof eventSearch.answer>>['events'][number]
