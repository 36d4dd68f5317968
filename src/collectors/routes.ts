import { version } from '../../package.json'
import { MAX_NAME_LENGTH } from '../contract/limits.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import { requireOnlyOrg } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import {
  addCollector,
  type CollectorRecord,
  findCollector,
  lagOf,
  listCollectors,
  removeCollector,
  statusOf,
} from './store.ts'

const tag = 'Server'

const EXAMPLE = {
  id: 'col_01ke7jm2q0d3k8f1z6y5b7n4ta',
  name: 'frankfurt-1',
  slot: 1,
  createdAt: 1_767_582_000_000,
}

const CONNECTED = {
  ...EXAMPLE,
  status: 'connected',
  lastContactAt: 1_767_614_400_000,
  version: '1.0.0',
  lagMs: 2400,
  waitingBytes: 1_300_000,
  freeBytes: 48_000_000_000,
}

const shared = {
  id: Type.String(),
  name: Type.String(),
  slot: Int({ description: 'Its event numbers are congruent to it modulo 64' }),
  createdAt: InstantSchema,
}

const CollectorSchema = Closed(
  {
    ...shared,
    status: OneOf(['connected', 'away', 'never'], {
      description:
        '`away`: alerts are evaluated without waiting for it, because it had no contact for a minute and has not stored ' +
        'everything that it received meanwhile. `never`: it has not been in contact yet',
    }),
    lastContactAt: Nullable(InstantSchema),
    version: Nullable(Type.String({ description: 'Version of its program' })),
    lagMs: Nullable(Int({ description: 'Age of its oldest event that is not stored yet, at its last contact' })),
    waitingBytes: Nullable(Int({ description: 'Size of the events that wait on its disk' })),
    freeBytes: Nullable(Int({ description: 'Free space on its disk; null if unknown' })),
  },
  {
    $id: 'Collector',
    examples: [CONNECTED],
  },
)

const CollectorListSchema = Closed(
  {
    collectors: Type.Array(CollectorSchema),
    eventStore: OneOf(['dataFolder', 'clickhouse'], {
      description: 'Where this server stores events. Collectors require ClickHouse',
    }),
    version: Type.String({ description: 'Version of this server' }),
  },
  {
    $id: 'CollectorList',
    examples: [{ collectors: [CONNECTED], eventStore: 'clickhouse', version: '1.0.0' }],
  },
)

const NewCollectorSchema = Closed(
  { ...shared, token: Type.String({ description: 'Value of TAGWARDEN_COLLECTOR_TOKEN on the collector' }) },
  { $id: 'NewCollector', examples: [{ ...EXAMPLE, token: 'ct_2nB8cV5xZ1mK7jH4gF9dS3aP6oI0uY-tR_eWqLkJQb7x' }] },
)

const CollectorInputSchema = Closed(
  { name: Text(1, MAX_NAME_LENGTH) },
  { $id: 'CollectorInput', examples: [{ name: EXAMPLE.name }] },
)

export interface CollectorRouteDeps {
  db: Db
  clock: Clock
  /** Where this server stores events. */
  eventStore: Static<typeof CollectorListSchema>['eventStore']
}

/** Returns the routes that manage collectors. Collectors themselves call the `ControlEndpoint`. */
export function collectorRoutes({ db, clock, eventStore }: CollectorRouteDeps): Route[] {
  const checkCaller = () =>
    requireOnlyOrg(
      db,
      'its collectors receive the events of all of them, so only the operator can manage them on the command line',
    )
  return [
    route({
      id: 'listCollectors',
      method: 'GET',
      path: '/v1/collectors',
      access: 'seeBackups',
      tag,
      summary: 'List the collectors of this server by name',
      description: 'There are at most 63, so the list has no pages. 403 if the server has several organizations.',
      refusals: ['forbidden'],
      answer: CollectorListSchema,
      exports: 'collectors',
      handle() {
        checkCaller()
        return { collectors: listCollectors(db).map(factsOf), eventStore, version }
      },
    }),
    route({
      id: 'addCollector',
      method: 'POST',
      path: '/v1/collectors',
      access: 'operate',
      tag,
      summary: 'Add a collector; its token is shown only once',
      description:
        '403 if the server has several organizations, 409 if it stores events in its data folder, the name is taken, or ' +
        'there are 63 collectors.',
      refusals: ['forbidden', 'conflict'],
      body: CollectorInputSchema,
      status: 201,
      answer: NewCollectorSchema,
      handle({ body: { name } }) {
        checkCaller()
        if (eventStore === 'dataFolder')
          throw new AppError(
            'conflict',
            'this server stores events in its data folder; collectors require ClickHouse, see TAGWARDEN_WAREHOUSE',
          )
        const { token, collector } = addCollector(db, clock, name)
        const { id, slot, createdAt } = collector
        return { id, name: collector.name, slot, createdAt, token }
      },
    }),
    route({
      id: 'removeCollector',
      method: 'DELETE',
      path: '/v1/collectors/{id}',
      access: 'operate',
      tag,
      summary: 'Remove a collector, so that its token no longer works',
      description: 'Events that wait on its disk are not stored. 403 if the server has several organizations.',
      refusals: ['forbidden'],
      params: ById,
      answer: OkSchema,
      handle({ params: { id } }) {
        checkCaller()
        removeCollector(db, findCollector(db, id).name)
        return OK
      },
    }),
  ]
}

function factsOf(collector: CollectorRecord): Static<typeof CollectorSchema> {
  const { id, name, slot, createdAt, seenAt, diskBytes, freeBytes } = collector
  return {
    id,
    name,
    slot,
    createdAt,
    status: statusOf(collector),
    lastContactAt: seenAt,
    version: collector.version,
    lagMs: lagOf(collector),
    waitingBytes: diskBytes,
    freeBytes,
  }
}
