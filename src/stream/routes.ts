import { SEVERITIES } from '../alerts/alert.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, Type } from '../core/schema.ts'
import { type Route, streamRoute } from '../http/route.ts'
import { DELIVERY_STATUSES } from '../integrations/delivery/delivery.ts'
import { ISSUE_STATUSES } from '../issues/issue.ts'
import { MAX_STREAMS, type Streams } from './streams.ts'

const updatedAt = InstantSchema
const AT = 1_767_616_200_000

const IssueMoved = Closed(
  {
    id: Type.String(),
    status: OneOf(ISSUE_STATUSES),
    severity: OneOf(SEVERITIES),
    alertId: Type.String(),
    domainId: Nullable(Type.String()),
    updatedAt,
  },
  { $id: 'IssueMoved', description: 'Data of `issue`: one was opened, or changed' },
)

const DeliveryMoved = Closed(
  { id: Type.String(), issueId: Nullable(Type.String()), status: OneOf(DELIVERY_STATUSES), updatedAt },
  { $id: 'DeliveryMoved', description: 'Data of `delivery`: one was made, or changed' },
)

const ThingMoved = Closed(
  {
    id: Type.String({
      description: 'Of `signal`, the id of the domain; of `run`, of a flow test’s run or of an audit',
    }),
    updatedAt,
    deleted: Type.Optional(Type.Literal(true, { description: 'It is there no more' })),
  },
  {
    $id: 'ThingMoved',
    description: 'Data of `alert`, `domain`, `signal`, `change`, `run` and `integration`: one was made, or changed',
  },
)

const PulseSchema = Closed(
  {
    at: InstantSchema,
    lastStoredAt: Nullable(Type.Number({ ...InstantSchema, description: 'When the last event was stored' })),
    eventsPerMinute: Int({ description: 'Events stored in the last minute' }),
    gapSince: Nullable(
      Type.Number({ ...InstantSchema, description: 'Since when nothing can be stored; null while all is well' }),
    ),
  },
  { $id: 'StreamPulse', description: 'Data of `pulse`, at once and every 10 s' },
)

const ResetSchema = Closed(
  {},
  { $id: 'StreamReset', description: 'Data of `reset`: changes were missed, so everything has to be asked for again' },
)

const StreamSchema = Type.Union([IssueMoved, DeliveryMoved, ThingMoved, PulseSchema, ResetSchema], {
  $id: 'StreamData',
  examples: [
    {
      id: 'iss_01ke7k3h20x6b4n8r1t9v5c7zd',
      status: 'acknowledged',
      severity: 'high',
      alertId: 'alr_01ke7jpe008wq2m5x0t4c9r7hv',
      domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
      updatedAt: AT,
    },
    { id: 'alr_01ke7jpe008wq2m5x0t4c9r7hv', updatedAt: AT, deleted: true },
    { at: AT, lastStoredAt: AT - 400, eventsPerMinute: 240, gapSince: null },
  ],
})

/** What changes, as it changes: `GET /v1/stream`. */
export function streamRoutes({ streams }: { streams: Streams }): Route[] {
  return [
    streamRoute({
      id: 'streamChanges',
      method: 'GET',
      path: '/v1/stream',
      access: 'read',
      tag: 'Stream',
      summary: 'What changes in the organization, within a second, as server-sent events',
      description:
        'The event’s name says what its data is of: `issue`, `delivery`, `alert`, `domain`, `signal`, `change`, `run`, ' +
        '`integration`; `pulse` and `reset`. Data has ids, which say what to ask for anew. Each event has an `id`: ' +
        'whoever names the last one in `Last-Event-ID` within 5 minutes goes on behind it, and gets `reset` later, and ' +
        'after a restart of the server. Whoever reads far too slowly gets `reset` too. ' +
        `At most ${MAX_STREAMS} streams a user. It ends within 10 s of the credential’s end.`,
      answer: StreamSchema,
      handle: ({ principal, lastEventId = null, signal }) => streams.open(principal, lastEventId, signal),
    }),
  ]
}
