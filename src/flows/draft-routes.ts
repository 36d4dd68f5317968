import { privacyFrom } from '../conditions/privacy.ts'
import type { Clock } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { type History, withSignal } from '../warehouse/warehouse.ts'
import { draftOf } from './draft.ts'
import { DraftInputSchema } from './draft-input.ts'
import { DraftProcesses, draftInputOf } from './draft-process.ts'
import { sightingsOfSession } from './draft-session.ts'
import { ExpectationSchema } from './expectation.ts'
import { RecordingSchema } from './recording.ts'

export interface DraftParts {
  db: Db
  clock: Clock
  warehouse: History
  /** How long events are kept. */
  retentionMs: number
  privacySettingsOf(orgId: string): Parameters<typeof privacyFrom>[0]
  processes?: DraftProcesses
}

/** A HAR has the bodies of a page's scripts and images. */
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
      { description: 'Requests of a HAR that are left out because it does not have their bodies, at most 50' },
    ),
  },
  {
    $id: 'FlowDraft',
    examples: [
      {
        recording: { title: 'Visit of shop.example', steps: [{ type: 'navigate', url: 'https://shop.example/' }] },
        expectations: [{ step: 0, vendor: 'Google Analytics 4', event: 'page_view' }],
        missingBodies: [],
      },
    ],
  },
)

/** `POST /v1/flows/drafts`. */
export function draftRoutes({
  db,
  clock,
  warehouse,
  retentionMs,
  privacySettingsOf,
  processes = new DraftProcesses(),
}: DraftParts): Route[] {
  return [
    route({
      id: 'draftFlowTest',
      method: 'POST',
      path: '/v1/flows/drafts',
      access: 'edit',
      asynchronous: true,
      unparsed: true,
      tag: 'Flow tests',
      summary: 'A draft of a flow test from a visitor’s session, or a HAR: its pages and events, to be completed',
      description: 'Nothing is stored. It has no clicks, and nothing that is personal.',
      refusals: ['notFound', 'tooLarge', 'rateLimited', 'unavailable'],
      question: true,
      maxBodyBytes: HAR_BYTES,
      body: DraftInputSchema,
      answer: DraftSchema,
      async handle({ principal, body, signal }) {
        const bytes = body as unknown as Uint8Array
        const { orgId } = principal
        const settings = privacySettingsOf(orgId)
        const sessionId = processes.takes(bytes) ? undefined : draftInputOf(bytes).sessionId
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
