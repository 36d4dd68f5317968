/**
 * Names of properties that the browser script reads from its own objects only: from none of the browser, the page, the
 * configuration or a batch. In the bundle each becomes one letter, or two.
 */
export const OWN_NAMES = [
  ...['guard', 'look', 'foreignHost', 'run', 'recorder', 'frame', 'frames', 'outcome', 'isSampled', 'current', 'list'],
  ...[
    'isReading',
    'isSpent',
    'isUnderWay',
    'retryAfterMs',
    'isConfirmed',
    'address',
    'isVendors',
    'isSure',
    'isOnline',
    'wanted',
  ],
  ...['isTimed', 'closing', 'later', 'youngest', 'allowStorage', 'setMode', 'newId', 'isOff', 'canKeep', 'leaving'],
  ...['changed', 'sendLast', 'retryNow', 'untimed', 'decide', 'learn', 'isKept', 'ways', 'longFrame', 'finishPage'],
  ...['endOf', 'idAt', 'tell', 'isOdd', 'declared', 'stats', 'date', 'queue', 'sender', 'finish', 'take', 'check'],
  ...['flush', 'left', 'calls', 'see', 'timing', 'request', 'setCustomerSession', 'stop'],
]

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const shortNames = new Map(OWN_NAMES.map((name, at) => [name, LETTERS[at] ?? `$${LETTERS[at - LETTERS.length]}`]))

/** Whole identifiers. Texts in quotes and paths of imports that are one of the names are left alone. */
const names = new RegExp(`(?<![\\w$'"/-])(?:${OWN_NAMES.join('|')})(?![\\w$'"-])`, 'g')

/** Shortens the own names in a source of the browser script, variables of the same name among them. */
export function withShortNames(source: string): string {
  return source.replace(names, (name) => shortNames.get(name) ?? name)
}
