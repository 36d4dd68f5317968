import { SENSITIVITY } from '../contract/limits.ts'
import { SIGNAL_MODES } from '../contract/statuses.ts'
import type { Clock } from '../core/clock.ts'
import { Closed, Int, Nullable, OneOf, Text, Type } from '../core/schema.ts'
import { OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { saveSetting } from './signal-setting-store.ts'

const SignalInputSchema = Closed(
  {
    domainId: Text(1, 100),
    vendor: Text(1, 200),
    event: Type.Optional(Type.String({ maxLength: 200, default: '' })),
    mode: OneOf(SIGNAL_MODES),
    sensitivity: Type.Optional(
      Nullable(
        Int({
          minimum: SENSITIVITY.min,
          maximum: SENSITIVITY.max,
          description: '2 is the most sensitive. Null: the sensitivity of the alert. Omitted: unchanged',
        }),
      ),
    ),
  },
  {
    $id: 'SignalInput',
    examples: [
      {
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        vendor: 'Google Analytics 4',
        event: 'purchase',
        mode: 'muted',
        sensitivity: 6,
      },
    ],
  },
)

/** Route for signal settings: `PUT /v1/auto/signals`. */
export function signalRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    route({
      id: 'setSignal',
      method: 'PUT',
      path: '/v1/auto/signals',
      access: 'edit',
      tag: 'Signals',
      summary: 'Set the monitoring mode and sensitivity of a signal',
      description:
        'A signal is the volume of one vendor and event in one domain. `auto`: monitored, and anomalies open issues; ' +
        '`muted`: monitored without opening issues; `off`: not monitored. `auto` without a sensitivity removes the setting.',
      tool: true,
      refusals: ['notFound', 'conflict'],
      body: SignalInputSchema,
      answer: OkSchema,
      handle({ principal: { orgId }, body: { event = '', ...body } }) {
        saveSetting(db, clock, orgId, { ...body, event })
        return OK
      },
    }),
  ]
}
