import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import type { AnyInsight } from '../insights/insight.ts'
import { MessageEnricher } from '../integrations/delivery/message-enricher.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { issueEvidence } from './evidence.ts'
import { messageHistoryFetcher } from './fetch-message-evidence.ts'
import { issueSegments } from './issue-segments.ts'

export interface EvidenceRoom extends Room {
  /** Adds data from the event history to messages. */
  enricher: MessageEnricher
  insights: readonly AnyInsight[]
}

export function openEvidence(base: HistoryBase, { seriesMonitor }: SignalsRoom): EvidenceRoom {
  const { db, box, clock, warehouse, watermark, retentionMs, maxEventsRead, report } = base
  const fetchHistory = messageHistoryFetcher({
    db,
    warehouse,
    seriesMonitor,
    clock,
    watermark,
    retentionMs,
    maxEventsRead,
  })
  return {
    enricher: new MessageEnricher({ db, clock, fetchHistory, report }),
    insights: [issueEvidence(box), issueSegments],
  }
}
