import type { Metric } from './http/health.ts'
import type { Spool } from './ingest/spool.ts'
import type { Db } from './store/database.ts'
import type { Manifest } from './warehouse/manifest.ts'

/** What an operator watches. Counters are read from what is stored, so they survive a restart. */
export function metricsOf(db: Db, spool: Pick<Spool, 'segments'>, manifest: Pick<Manifest, 'files'>): Metric[] {
  const one = (sql: string) => db.prepare<[], number>(sql).pluck().get() ?? 0
  const files = manifest.files()
  const memory = process.memoryUsage.rss()
  return [
    {
      name: 'tagwarden_events_stored_total',
      type: 'counter',
      help: 'Events moved into the warehouse.',
      value: one('SELECT ifnull(sum(events), 0) FROM usage'),
    },
    {
      name: 'tagwarden_items_rejected_total',
      type: 'counter',
      help: 'Items that the collector refused or changed.',
      value: one('SELECT ifnull(sum(count), 0) FROM rejection'),
    },
    {
      name: 'tagwarden_spool_segments',
      type: 'gauge',
      help: 'Sealed spool segments that wait for the warehouse.',
      value: spool.segments().length,
    },
    { name: 'tagwarden_event_files', type: 'gauge', help: 'Parquet files of events.', value: files.length },
    {
      name: 'tagwarden_event_bytes',
      type: 'gauge',
      help: 'Bytes of Parquet files of events.',
      value: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    },
    {
      name: 'tagwarden_open_issues',
      type: 'gauge',
      help: 'Open issues of all organizations.',
      value: one(`SELECT count(*) FROM issue WHERE status = 'open'`),
    },
    {
      name: 'tagwarden_deliveries_waiting',
      type: 'gauge',
      help: 'Notifications not yet delivered.',
      value: one(`SELECT count(*) FROM delivery WHERE status IN ('pending', 'sending')`),
    },
    {
      name: 'tagwarden_deliveries_failed_total',
      type: 'counter',
      help: 'Notifications given up.',
      value: one(`SELECT count(*) FROM delivery WHERE status = 'failed'`),
    },
    {
      name: 'tagwarden_resident_memory_bytes',
      type: 'gauge',
      help: 'Resident memory of the process.',
      value: memory,
    },
  ]
}
