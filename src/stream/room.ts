import type { Room } from '../base.ts'
import type { EvaluationRoom } from '../evaluation/room.ts'
import type { HistoryBase } from '../history-base.ts'
import type { IngestRoom } from '../ingest/room.ts'
import { isInForce } from '../org/authenticate.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { watchRows } from '../store/watch-table-rows.ts'
import { streamRoutes } from './routes.ts'
import { Streams } from './streams.ts'
import { WATCHED } from './watched-tables.ts'

export interface StreamRoom extends Room {
  streams: Streams
}

interface Deps {
  ingest: Pick<IngestRoom, 'counts'>
  signals: SignalsRoom
  evaluation: Pick<EvaluationRoom, 'signalsChanged'>
}

/** Creates the streams that notify clients of committed changes. */
export function openStream(base: HistoryBase, { ingest, signals: { gaps }, evaluation }: Deps): StreamRoom {
  const { db, clock, rowChanges } = base
  const streams = new Streams({
    clock,
    isInForce: (principal) => isInForce({ db, clock }, principal),
    pulseOf: (orgId) => ({ ...ingest.counts.of(orgId, clock.now()), gapSince: gaps.refusingSince }),
  })
  evaluation.signalsChanged.subscribe(({ orgId, domainId }) => streams.signalsChanged(orgId, domainId))
  rowChanges.subscribe((changes) => streams.publish(changes))
  watchRows(db, WATCHED, (changes) => rowChanges.emit(changes))
  return { streams, routes: streamRoutes({ streams }), stop: () => streams.close() }
}
