import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { type AddressGuard, addressGuard } from '../transport/address-guard.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { mailTransport } from '../transport/mail-transport.ts'
import { plainMail } from '../transport/plain-mail.ts'
import { type Transport, transport as transportOf } from '../transport/transport.ts'
import { webSockets } from '../transport/web-socket.ts'
import { localUrlOf } from './local-url.ts'

/** Log for bugs and for problems that need an operator. */
export interface Log {
  info(message: string): void
  warn(message: string): void
  error(error: unknown, message: string): void
}

export interface AppOptions {
  config: Config
  clock: Clock
  log: Log
  /** Sends requests and mail to other servers; by default through HTTP and SMTP as configured. */
  transport?: Transport
  /** Returns a number from 0 up to but not including 1, used to spread retries. */
  jitter?: () => number
}

/** Dependencies that every part of the program needs. They are available before any file is opened. */
export interface Base {
  config: Config
  clock: Clock
  log: Log
  /** Logs an error that can't be returned to the caller. */
  report(error: unknown, where: string): void
  guard: AddressGuard
  transport: Transport
  /** Notifies the server's operator in the log, and by mail if configured. */
  notifyOperator(notice: { subject: string; text: string }): void
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
}

export function baseOf({ config, clock, log, transport: given }: AppOptions): Base {
  const guard = addressGuard(config.outboundAllow)
  const transport = given ?? outboundTransport(config, guard)
  return {
    ...{ config, clock, log, guard, transport },
    report: (error, where) => log.error(error, where),
    notifyOperator: operatorOf(config, log, transport),
    publicUrl: config.publicUrl || localUrlOf(config.listen),
  }
}

function outboundTransport(config: Config, guard: AddressGuard): Transport {
  const way = { guard, proxy: config.outboundProxy, ca: config.outboundCa }
  return transportOf({
    http: httpTransport(way),
    openSocket: webSockets(way),
    mail: mailTransport({ smtpUrl: config.smtpUrl, from: config.mailFrom, ca: config.outboundCa }),
  })
}

function operatorOf({ operatorMail, smtpUrl }: Config, { warn }: Log, transport: Transport): Base['notifyOperator'] {
  const mail = operatorMail !== '' && smtpUrl !== '' ? plainMail({ transport, warn }) : null
  return ({ subject, text }) => {
    warn(`${subject}. ${text}`)
    mail?.(operatorMail, `Tagwarden: ${subject}`, text)
  }
}
