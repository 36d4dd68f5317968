import { readFileSync } from 'node:fs'

/** Prefix of the environment variables of settings. */
export const PREFIX = 'TAGWARDEN_'

/** Suffix of the variables that name a file with the value of a secret setting, as Docker and Kubernetes mount it. */
const FILE_SUFFIX = '_FILE'

/** Thrown for an invalid value. The message names the setting. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

/** The properties of a setting that determine its source. */
export interface SettingSource {
  /** Name of the environment variable, without the prefix. */
  name: string
  default: string
  /** Secrets can also be read from a file. */
  secret?: boolean
}

/**
 * Returns the unparsed text of a setting: the flag, else the environment variable, else the content of the file that a
 * variable with the suffix `_FILE` names, else the default. Throws `SettingError` if both variables are set or the file
 * can't be read.
 */
export function rawSetting(source: SettingSource, flag: string | undefined, env: NodeJS.ProcessEnv): string {
  const name = PREFIX + source.name
  const file = source.secret ? env[name + FILE_SUFFIX] : undefined
  const given = flag ?? env[name]
  if (file === undefined) return given ?? source.default
  if (given !== undefined) throw new SettingError(`${name}${FILE_SUFFIX}: must not be set together with ${name}`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const reason = (error as { code?: string }).code ?? 'unknown error'
    throw new SettingError(`${name}${FILE_SUFFIX}: ${file} can't be read (${reason})`)
  }
}

/** Returns the names of the variables from which these settings can be read. */
export function variablesOf(sources: readonly SettingSource[]): Set<string> {
  return new Set(
    sources.flatMap(({ name, secret }) => [PREFIX + name, ...(secret ? [PREFIX + name + FILE_SUFFIX] : [])]),
  )
}

/**
 * Variables that Kubernetes sets for a service whose name begins with `tagwarden`
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const OF_KUBERNETES =
  /^TAGWARDEN_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/

/** True for a variable that Kubernetes sets for a service. `TAGWARDEN_PORT` could also be an attempt to set a port. */
export function isOfKubernetes(name: string, value = ''): boolean {
  return OF_KUBERNETES.test(name) || (/^TAGWARDEN_(?:\w+_)?PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value))
}
