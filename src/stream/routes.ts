import { SEVERITIES } from '../contract/severities.ts'
import { DELIVERY_STATUSES } from '../contract/statuses.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, Type } from '../core/schema.ts'
import { type Route, streamRoute } from '../http/route.ts'
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
  { $id: 'IssueMoved', description: 'Data of `issue` events: an issue was opened or changed' },
)

const DeliveryMoved = Closed(
  { id: Type.String(), issueId: Nullable(Type.String()), status: OneOf(DELIVERY_STATUSES), updatedAt },
  { $id: 'DeliveryMoved', description: 'Data of `delivery` events: a delivery was created or changed' },
)

const ThingMoved = Closed(
  {
    id: Type.String({
      description: 'For `signal`, the id of the domain; for `run`, the id of a flow test run or an audit',
    }),
    updatedAt,
    deleted: Type.Optional(Type.Literal(true, { description: 'Present if the object was deleted' })),
  },
  {
    $id: 'ThingMoved',
    description:
      'Data of `alert`, `domain`, `signal`, `change`, `run` and `integration` events: an object was created or changed',
  },
)

const PulseSchema = Closed(
  {
    at: InstantSchema,
    lastStoredAt: Nullable(
      Type.Number({
        ...InstantSchema,
        description: 'Time at which the most recent event was stored; null if there are no events',
      }),
    ),
    eventsPerMinute: Int({ description: 'Events stored in the last minute' }),
    gapSince: Nullable(
      Type.Number({
        ...InstantSchema,
        description: 'Start of the current collection gap; null if events can be stored',
      }),
    ),
  },
  { $id: 'StreamPulse', description: 'Data of `pulse` events, sent when the stream opens and every 10 s' },
)

const ResetSchema = Closed(
  {},
  {
    $id: 'StreamReset',
    description: 'Data of `reset` events: changes were missed, so the client must reload everything',
  },
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

/** Route for the change stream: `GET /v1/stream`. */
export function streamRoutes({ streams }: { streams: Streams }): Route[] {
  return [
    streamRoute({
      id: 'streamChanges',
      method: 'GET',
      path: '/v1/stream',
      access: 'read',
      tag: 'Stream',
      summary: 'Stream changes in the organization as server-sent events, within a second',
      description:
        'The name of an event identifies what changed: `issue`, `delivery`, `alert`, `domain`, `signal`, `change`, `run` or ' +
        '`integration`; `pulse` and `reset` concern the stream itself. The data contains the ids of the objects to reload. ' +
        'Each event has an `id`: send the most recent one as `Last-Event-ID` within 5 minutes to resume the stream. Later, after ' +
        'a server restart, or if the client reads too slowly, the stream sends `reset`. ' +
        `Each user can open at most ${MAX_STREAMS} streams. A stream is closed within 10 s after its credential expires.`,
      answer: StreamSchema,
      handle: ({ principal, lastEventId = null, signal }) => streams.open(principal, lastEventId, signal),
    }),
  ]
}
