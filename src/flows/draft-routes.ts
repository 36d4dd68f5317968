import type { Privacy } from '../conditions/privacy.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Text, Type } from '../core/schema.ts'
import { type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { type History, withSignal } from '../warehouse/warehouse.ts'
import { draftOf, sightingsOfHar } from './draft.ts'
import { sightingsOfSession } from './draft-session.ts'
import { ExpectationSchema } from './expectation.ts'
import { RecordingSchema } from './recording.ts'

export interface DraftParts {
  db: Db
  clock: Clock
  warehouse: History
  /** How long events are kept. */
  retentionMs: number
  privacyOf(orgId: string): Privacy
}

/** A HAR has the bodies of a page's scripts and images. */
const HAR_BYTES = 32 * 1024 * 1024

const HAR = {
  log: {
    version: '1.2',
    entries: [
      {
        _resourceType: 'document',
        startedDateTime: '2026-01-05T12:00:00.000Z',
        request: { method: 'GET', url: 'https://shop.example/', headers: [] },
        response: { status: 200, headers: [{ name: 'content-type', value: 'text/html' }] },
      },
    ],
  },
}

const DraftInputSchema = Closed(
  {
    sessionId: Type.Optional(Text(1, 200, { description: 'A visitor’s session in the event history' })),
    har: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'A HAR, in place of a session' })),
  },
  { $id: 'FlowDraftInput', examples: [{ har: HAR }] },
)

const DraftSchema = Closed(
  { recording: RecordingSchema, expectations: Type.Array(ExpectationSchema) },
  {
    $id: 'FlowDraft',
    examples: [
      {
        recording: { title: 'Visit of shop.example', steps: [{ type: 'navigate', url: 'https://shop.example/' }] },
        expectations: [{ step: 0, vendor: 'Google Analytics 4', event: 'page_view' }],
      },
    ],
  },
)

/** `POST /v1/flows/drafts`. */
export function draftRoutes({ db, clock, warehouse, retentionMs, privacyOf }: DraftParts): Route[] {
  return [
    route({
      id: 'draftFlowTest',
      method: 'POST',
      path: '/v1/flows/drafts',
      access: 'read',
      tag: 'Flow tests',
      summary: 'A draft of a flow test from a visitor’s session, or a HAR: its pages and events, to be completed',
      description: 'Nothing is stored. It has no clicks, and nothing that is personal.',
      refusals: ['notFound'],
      question: true,
      maxBodyBytes: HAR_BYTES,
      body: DraftInputSchema,
      answer: DraftSchema,
      async handle({ principal, body: { sessionId, har }, signal }) {
        if ((sessionId === undefined) === (har === undefined)) {
          throw new AppError('invalid', 'sessionId: give it, or har, and not both')
        }
        const privacy = privacyOf(principal.orgId)
        const sources = { db, history: withSignal(warehouse, signal), privacy: () => privacy, retentionMs }
        const sightings =
          sessionId === undefined
            ? sightingsOfHar(har, 'har')
            : await sightingsOfSession(sessionId, sources, { principal, now: clock.now() })
        return draftOf(sightings, sessionId === undefined ? 'har' : 'sessionId', privacy) as never
      },
    }),
  ]
}
