import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import type { IntegrationsRoom } from '../integrations/room.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { DigestComposer } from './digest-composer.ts'
import { DigestSender } from './digest-sender.ts'
import { digestRoutes } from './routes.ts'

interface Deps {
  signals: SignalsRoom
  integrations: IntegrationsRoom
}

export function openDigest(base: HistoryBase, { signals, integrations: { dispatcher } }: Deps): Room {
  const { db, box, clock, warehouse, watermark, retentionMs, maxEventsRead, publicUrl, report, log } = base
  const { seriesMonitor } = signals
  const composer = new DigestComposer({
    db,
    warehouse,
    clock,
    publicUrl,
    seriesMonitor,
    report,
    watermark,
    retentionMs,
    maxEventsRead,
  })
  const sender = new DigestSender({ db, box, composer, dispatcher, publicUrl, warn: log.warn })
  return {
    routes: digestRoutes({ db, box, clock, composer }),
    jobs: [
      { name: 'send digests', isOutbound: true, pattern: '2-59/5 * * * * *', run: (stopping) => sender.run(stopping) },
    ],
  }
}
