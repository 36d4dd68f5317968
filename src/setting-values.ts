import { ROLES, type Role } from './contract/roles.ts'
import { nextTime } from './core/cron-schedule.ts'
import { checkEmail } from './core/email-address.ts'
import { AppError } from './core/error.ts'
import { type Cidr, parseCidr } from './core/ip-address.ts'
import { SettingError } from './setting-source.ts'

/*
 * Functions that read the text of a setting. They throw `SettingError` with the name of the setting.
 */

/** The role assigned to members of a group. */
export interface GroupRole {
  group: string
  role: Role
}

export const text = (value: string) => value

export function whole(min: number, max: number) {
  return (value: string, name: string) => {
    const number = Number(value)
    if (Number.isInteger(number) && number >= min && number <= max) return number
    throw new SettingError(`${name}: must be a whole number from ${min} to ${max}, not "${value}"`)
  }
}

export function address(value: string, name: string): { hostname: string; port: number } | null {
  if (value === '') return null
  const match = /^(.*):(\d{1,5})$/.exec(value)
  const port = Number(match?.[2])
  if (!match || port > 65_535) throw new SettingError(`${name}: must be HOST:PORT, not "${value}"`)
  return { hostname: (match[1] ?? '').replace(/^\[(.*)\]$/, '$1') || '0.0.0.0', port }
}

export function webAddress(value: string, name: string): string {
  if (value === '') return value
  const url = URL.parse(value)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return value.replace(/\/+$/, '')
  throw new SettingError(`${name}: must be an http or https URL, not "${value}"`)
}

/** For URLs that may contain a password: error messages do not repeat the value. */
export function secretAddress(form: string, ...protocols: string[]) {
  return (value: string, name: string) => {
    if (value === '') return value
    const url = URL.parse(value)
    if (url && url.hostname !== '' && protocols.includes(url.protocol)) return value
    throw new SettingError(`${name}: must be ${form}; the current value is not shown because it may contain a secret`)
  }
}

/**
 * Plain HTTP is allowed only on loopback hosts: anyone who can read the traffic to the identity provider could sign in
 * as any user.
 */
function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/**
 * Preserves the identity provider's own spelling, including a trailing slash. The error does not repeat the value,
 * which may contain a password.
 */
export function issuer(value: string, name: string): string {
  if (value === '') return value
  const url = URL.parse(value)
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  if (url && secure && !/[?#@\s]/.test(value)) return value
  throw new SettingError(`${name}: must be an https URL without a query or password`)
}

/** Parses `group=role,…`. The group is everything before the last `=`, so a group name may contain `=`. */
export function groupRoles(value: string, name: string): GroupRole[] {
  const parts = value.split(',').filter((part) => part.trim() !== '')
  return parts.map((part) => {
    const at = part.lastIndexOf('=')
    const group = part.slice(0, Math.max(0, at)).trim()
    const role = ROLES.find((one) => one === part.slice(at + 1).trim())
    if (group !== '' && role) return { group, role }
    throw new SettingError(
      `${name}: must be GROUP=ROLE,… where ROLE is one of ${ROLES.join(', ')}, not "${part.trim()}"`,
    )
  })
}

export function blocks(value: string, name: string): Cidr[] {
  const entries = value.split(',').map((entry) => entry.trim())
  return entries.filter(Boolean).map((entry) => {
    const block = parseCidr(entry)
    if (block) return block
    throw new SettingError(`${name}: must be IP addresses or CIDR blocks, comma-separated; "${entry}" is neither`)
  })
}

/** Reads a value with a function that throws `AppError`. Its message follows `form`. */
export const parsed =
  <T>(empty: T, read: (text: string) => T, form = '') =>
  (value: string, name: string) => {
    try {
      return value === '' ? empty : read(value)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      throw new SettingError(`${name}: ${form}${error.message}`)
    }
  }

const UNITS: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

export function size(value: string, name: string): number {
  if (value === '') return 0
  const match = /^(\d+)\s*([kmgt]?)i?b?$/i.exec(value)
  const unit = UNITS[match?.[2]?.toLowerCase() ?? 'none']
  if (!match || unit === undefined)
    throw new SettingError(`${name}: must be a size such as 500MB or 20GB, not "${value}"`)
  return Number(match[1]) * unit
}

export function mailAddress(value: string, name: string): string {
  if (value === '') return value
  try {
    return checkEmail(value)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new SettingError(`${name}: must be one e-mail address, not "${value}"`)
  }
}

export function regionName(value: string, name: string): string {
  if (/^[\w .-]{1,60}$/.test(value)) return value
  throw new SettingError(`${name}: must be 1 to 60 letters, digits, spaces, dots or hyphens, not "${value}"`)
}

export function cronPattern(value: string, name: string): string {
  try {
    nextTime(value, 'UTC', 0)
    return value
  } catch {
    throw new SettingError(`${name}: must be a cron pattern such as 0 3 * * *, not "${value}"`)
  }
}

/** The error does not repeat the value, which is a secret. */
export function collectorToken(value: string, name: string): string {
  if (value === '' || /^ct_[\w-]{43}$/.test(value)) return value
  throw new SettingError(`${name}: must be a token that "tagwarden collectors add" has printed`)
}

export function oneOf(...words: string[]) {
  return (value: string, name: string) => {
    if (words.includes(value)) return value
    throw new SettingError(`${name}: must be one of ${words.join(', ')}, not "${value}"`)
  }
}
