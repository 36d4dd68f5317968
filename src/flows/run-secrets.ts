import { AppError } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { placeholdersIn } from './recorder-export.ts'
import type { StoredRun } from './run-store.ts'
import { beyondReach, type SecretReach, secretReach } from './secret-reach.ts'
import { openSecrets, type StoredFlowTest, type Versioned } from './store.ts'

type Values = Readonly<Record<string, string>>
type Version = Pick<Versioned, 'recording' | 'startUrl'>

/** Values that override the values of the test for one run. */
interface RunInput {
  startUrl: string | null
  variables: Values
  /** Secrets entered for this run. */
  secrets: Values
}

/**
 * Throws `invalid` when a run would expose a secret of the test to a new host or expression. A person who enters a
 * secret, in the test or for this run, approves the hosts and expressions that can receive it.
 */
export function requireRunReach(box: SecretBox, kept: StoredFlowTest, input: RunInput): void {
  const { recording } = kept.test
  const secrets = openSecrets(box, kept)
  const name = placeholdersIn(recording).find(
    (one) => Object.hasOwn(secrets, one) && !Object.hasOwn(input.secrets, one),
  )
  if (name === undefined) return
  const reason = beyondReach(boundReach(kept, secrets), runReach(kept, kept.test, { ...input, kept: secrets }))
  if (reason === null) return
  throw new AppError(
    'invalid',
    `${input.startUrl === null ? 'variables' : 'startUrl'}: enter ${name} in secrets, because ${reason}`,
  )
}

/** The values of a run's secrets, and the hosts that may receive each secret. */
export interface RunSecrets {
  values: Record<string, string>
  hosts: Record<string, readonly string[]>
}

/** Returns the secrets for a run of this version. Secrets entered for the run override those of the test. */
export function secretsOfRun(box: SecretBox, kept: StoredFlowTest, version: Version, run: StoredRun): RunSecrets {
  const own = openSecrets(box, kept)
  const entered = openSecrets(box, run)
  const bound = boundReach(kept, own)
  const wanted = runReach(kept, version, { ...run, secrets: entered, kept: own })
  // A new expression could read secrets typed into pages, even on the test's own hosts.
  const isBound = [...wanted.expressions].every((expression) => bound.expressions.has(expression))
  const hostsOf = (name: string) => (Object.hasOwn(entered, name) ? [...wanted.hosts] : isBound ? [...bound.hosts] : [])
  const values = { ...own, ...entered }
  return { values, hosts: Object.fromEntries(Object.keys(values).map((name) => [name, hostsOf(name)])) }
}

const boundReach = ({ test }: StoredFlowTest, secrets: Values): SecretReach =>
  secretReach(test, { variables: test.variables, secrets })

function runReach(
  { test }: StoredFlowTest,
  version: Version,
  { startUrl, variables, secrets, kept }: RunInput & { kept: Values },
): SecretReach {
  return secretReach(
    { ...version, startUrl: startUrl ?? version.startUrl, secretHosts: test.secretHosts },
    { variables: { ...test.variables, ...variables }, secrets: { ...kept, ...secrets } },
  )
}
