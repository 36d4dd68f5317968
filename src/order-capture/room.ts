import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import { channelCheck } from '../integrations/channel-targets.ts'
import type { Enqueue } from '../issues/issue.ts'
import { evaluateCaptureRules } from './evaluate-rules.ts'
import { captureRoutes } from './routes.ts'

export function openOrderCapture(base: HistoryBase, { enqueue }: { enqueue: Enqueue }): Room {
  const { db, box, clock, warehouse, watermark, retentionMs, report } = base
  return {
    routes: captureRoutes({ db, box, clock, enqueue, checkChannels: channelCheck(base) }),
    jobs: [
      {
        name: 'evaluate order capture',
        pattern: '20 * * * * *',
        run: (stopping) =>
          evaluateCaptureRules({ db, clock, history: warehouse, watermark, retentionMs, enqueue, report }, stopping),
      },
    ],
  }
}
