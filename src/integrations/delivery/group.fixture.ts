import type { Cast } from '../../../test/fixtures.ts'
import type { AlertChannel } from '../../alerts/alert.ts'
import type { Transition } from '../../issues/issue.ts'
import type { Db } from '../../store/database.ts'
import { addressGuard } from '../../transport/address-guard.ts'
import { httpTransport } from '../../transport/http-transport.ts'
import { mailTransport } from '../../transport/mail-transport.ts'
import { transport } from '../../transport/transport.ts'
import type { Channel } from '../providers/channel.ts'
import { desk } from '../providers/desk/desk.fixture.ts'
import { CHANNELS } from '../providers/index.ts'
import { room } from '../providers/room/fictitious-chat.fixture.ts'
import { StatusSync } from '../status/status-sync.ts'
import { Dispatcher } from './dispatcher.ts'
import { hook, outboxFixture } from './outbox.fixture.ts'
import type { Notice } from './outbox.ts'

export interface GroupFixtureOptions {
  /** Default: an in-memory database. */
  db?: Db
  people?: Cast
  /** Port of the mail server. Absent: mail is not configured. */
  smtpPort?: number
  timeoutMs?: number
  /** Additional channels, which replace built-in ones of the same type. Default: the fake chat and tracker. */
  channels?: readonly Channel[]
  /** The operator's provider settings. */
  operator?: Readonly<Record<string, string>>
}

/** An outbox and a dispatcher whose channels include a fake chat and a fake tracker. */
export function groupFixture({
  db,
  people,
  smtpPort,
  timeoutMs = 5000,
  channels: own = [room, desk],
  operator = {},
}: GroupFixtureOptions = {}) {
  const world = outboxFixture(db, people)
  const reported: unknown[] = []
  const channels = [...CHANNELS.filter(({ type }) => own.every((one) => one.type !== type)), ...own]
  const stopping = new AbortController()
  const smtpUrl = smtpPort === undefined ? null : `smtp://127.0.0.1:${smtpPort}`
  const parts = {
    db: world.db,
    clock: world.clock,
    box: world.box,
    jitter: () => 0,
    channels,
    operator,
    mailConfigured: smtpUrl !== null,
    transport: transport({
      http: httpTransport({ guard: addressGuard(['127.0.0.0/8']), timeoutMs }),
      mail: mailTransport({ smtpUrl, from: 'Tagwarden <watch@tagwarden.example>' }),
    }),
    report: (error: unknown) => void reported.push(error),
  }
  const dispatcher = new Dispatcher(parts, stopping.signal)
  const statusSync = new StatusSync(dispatcher)
  const tell = (transition: Transition, issueId?: string, values: Partial<Notice> = {}) =>
    world.tell(transition, issueId, { available: channels, ...values })
  /** Opens an issue and notifies its channels. */
  const open = (issueId: string, targets: readonly AlertChannel[] = [hook], values: Partial<Notice> = {}) =>
    tell('opened', world.issue(issueId), { channels: targets, ...values })
  /** Sends due deliveries until nothing is in flight. */
  const deliver = async () => {
    dispatcher.start()
    await dispatcher.idle()
  }
  const follow = async () => {
    statusSync.start()
    await dispatcher.idle()
  }
  return { ...world, parts, channels, reported, stopping, dispatcher, tell, open, deliver, follow }
}

export const roomAt = (url: string): AlertChannel => ({ type: 'team_chat', target: `${url}/c` })
