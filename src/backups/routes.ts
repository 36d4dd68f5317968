import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import { requireOnlyOrg } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import { quietState, resumeSending } from '../store/folder-mark.ts'
import { backupArchive } from './backup-archive.ts'
import { BackupDamage } from './backup-manifest.ts'
import type { BackupRunner } from './backup-runner.ts'
import { openPlace } from './open-place.ts'
import { findBackup, listBackups } from './store.ts'

const tag = 'Server'

const EXAMPLE = {
  id: 'bkp_01ke7jm2q0d3k8f1z6y5b7n4ta',
  status: 'succeeded',
  place: '/var/backups/tagwarden',
  name: '2026-01-05T03-00-00-000Z',
  startedAt: 1_767_582_000_000,
  finishedAt: 1_767_582_004_200,
  files: 312,
  bytes: 4_200_000_000,
  addedBytes: 61_000_000,
  error: null,
}

const BackupSchema = Closed(
  {
    id: Type.String(),
    status: OneOf(['running', 'succeeded', 'failed']),
    place: Type.String({ description: 'Folder on the server, or `s3://bucket/prefix/`' }),
    name: Nullable(Type.String({ description: 'Name of the backup in its place' })),
    startedAt: InstantSchema,
    finishedAt: Nullable(InstantSchema),
    files: Nullable(Int()),
    bytes: Nullable(Int({ description: 'Size of all files' })),
    addedBytes: Nullable(Int({ description: 'Size of the files that earlier backups did not contain' })),
    error: Nullable(Type.String()),
  },
  {
    $id: 'Backup',
    examples: [EXAMPLE],
  },
)

const BackupListSchema = Closed(
  {
    backups: Type.Array(BackupSchema),
    place: Type.String({ description: 'Where backups are stored' }),
    schedule: Nullable(Type.String({ description: 'Cron pattern in UTC' })),
    nextAt: Nullable(InstantSchema),
    keep: Int({ description: 'Number of backups that are kept' }),
    state: OneOf(['ok', 'stale', 'failed', 'none']),
    nextCursor: NextCursorSchema,
  },
  {
    $id: 'BackupList',
    examples: [
      {
        backups: [EXAMPLE],
        place: EXAMPLE.place,
        schedule: '0 3 * * *',
        nextAt: 1_767_668_400_000,
        keep: 7,
        state: 'ok',
        nextCursor: null,
      },
    ],
  },
)

const QuietSchema = Closed(
  {
    quiet: Nullable(
      Closed({ since: InstantSchema, reason: Type.String({ description: 'Cause, without a full stop' }) }),
    ),
  },
  { $id: 'Sending', examples: [{ quiet: { since: 1_767_614_400_000, reason: 'the data folder is a copy' } }] },
)

const Archive = Type.Unsafe<ReadableStream<Uint8Array>>(
  Type.String({ description: 'Tar archive', examples: ['2026-01-05T03-00-00-000Z/backup.json…'] }),
)

export interface BackupRouteDeps {
  db: Db
  folder: string
  runner: BackupRunner
  /** Returns the time of the next scheduled backup; null if none is scheduled. */
  nextAt(): number | null
  keep: number
  schedule: string | null
}

/** Backups contain the data and secrets of all organizations. */
const checkCaller = (db: Db) =>
  requireOnlyOrg(
    db,
    'its backups contain the data of all of them, so only the operator can use them on the command line',
  )

export function backupRoutes({ db, folder, runner, nextAt, keep, schedule }: BackupRouteDeps): Route[] {
  return [
    route({
      id: 'listBackups',
      method: 'GET',
      path: '/v1/backups',
      access: 'seeBackups',
      tag,
      summary: 'List the backups of this server, most recent first',
      description:
        'Includes failed backups and those made on the command line. 403 if the server has several organizations.',
      refusals: ['forbidden'],
      query: Closed(pagingFields),
      answer: BackupListSchema,
      exports: 'backups',
      handle({ query }) {
        checkCaller(db)
        const { items: backups, nextCursor } = listBackups(db, query)
        const { state } = runner.status()
        return { backups, place: runner.place, schedule, nextAt: nextAt(), keep, state, nextCursor }
      },
    }),
    route({
      id: 'createBackup',
      method: 'POST',
      path: '/v1/backups',
      access: 'operate',
      asynchronous: true,
      tag,
      summary: 'Back up this server',
      description:
        'Returns when the backup has started. 403 if the server has several organizations, 409 while another backup is running.',
      refusals: ['forbidden', 'conflict'],
      status: 201,
      answer: BackupSchema,
      async handle() {
        checkCaller(db)
        return findBackup(db, runner.start())
      },
    }),
    route({
      id: 'downloadBackup',
      method: 'GET',
      path: '/v1/backups/{id}/download',
      access: 'operate',
      asynchronous: true,
      tag,
      summary: 'Download a backup as a tar archive',
      description:
        'Contains all data of the server and the key that decrypts its secrets. Unpack it and run `tagwarden restore --from FOLDER --data FOLDER`. 403 if the server has several organizations, 409 unless the backup succeeded, 404 if it has been deleted from its place.',
      refusals: ['forbidden', 'conflict'],
      params: ById,
      produces: 'application/x-tar',
      answer: Archive,
      headers: () => ({ 'content-disposition': 'attachment; filename="tagwarden-backup.tar"' }),
      async handle({ params: { id } }) {
        checkCaller(db)
        const { name, place: title } = findBackup(db, id)
        if (name === null) throw new AppError('conflict', 'id: this backup did not succeed')
        const place = openPlace(title, process.env)
        if (!(await place.names()).includes(name)) throw new AppError('notFound', 'this backup has been deleted')
        try {
          return backupArchive(place, await place.manifest(name))
        } catch (error) {
          if (error instanceof BackupDamage)
            throw new AppError('conflict', `id: this backup is damaged: ${error.message}`)
          throw error
        }
      },
    }),
    route({
      id: 'getSending',
      method: 'GET',
      path: '/v1/server/sending',
      access: 'read',
      tag,
      summary: 'Check whether this server sends notifications',
      description:
        '`quiet` is null unless the data folder was copied or restored. Such a server collects and evaluates events but sends nothing until it is resumed.',
      answer: QuietSchema,
      handle: () => ({ quiet: quietState(db) }),
    }),
    route({
      id: 'resumeSending',
      method: 'POST',
      path: '/v1/server/sending/resume',
      access: 'operate',
      tag,
      summary: 'Let a restored server send notifications again',
      description:
        'Resume only one of the copies of a data folder. Pending notifications are then sent. 403 if the server has several organizations.',
      refusals: ['forbidden'],
      answer: OkSchema,
      handle() {
        checkCaller(db)
        if (quietState(db)) resumeSending(db, folder)
        return OK
      },
    }),
  ]
}
