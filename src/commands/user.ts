import { existsSync } from 'node:fs'
import { migrations } from '../../migrations/index.ts'
import { ROLES, type Role } from '../contract/roles.ts'
import { systemClock } from '../core/clock.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { openStores } from '../data-folder/open-folder.ts'
import { listUsers, setPassword, setRole, type UserRecord } from '../org/user-admin.ts'
import type { Db } from '../store/database.ts'
import { FolderInUse, lockFolder } from '../store/folder-lock.ts'
import { openToRead } from '../store/inspect-database.ts'
import { type Command, type Invocation, required, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'

const EMAIL_FLAG = { type: 'string', value: 'E', meaning: 'E-mail address of the user' } as const
const jsonFlag = (meaning: string) => ({ type: 'boolean', meaning }) as const

/**
 * Runs `work` on the database of the data folder. A running server keeps running, and sees changes at its next request.
 * Throws `UsageError` when there is no database, or when the running server has another version.
 */
export async function withDatabase<T>(
  command: Command,
  invocation: Invocation,
  work: (db: Db) => T | Promise<T>,
): Promise<T> {
  const { data } = configOf(invocation)
  const { database } = folderPaths(data)
  if (!existsSync(database)) throw new UsageError(`${command.name}: there is no data folder at ${data}`)
  const unlock = lockUnlessRunning(data)
  try {
    if (unlock === null && schemaOf(database) !== migrations.length) {
      throw new UsageError(
        `${command.name}: the running server has another version; use its executable, or stop it first`,
      )
    }
    const { db } = openStores(data)
    try {
      return await work(db)
    } finally {
      db.close()
    }
  } finally {
    unlock?.()
  }
}

/** Returns the function that unlocks the folder; null when a server is using it. */
function lockUnlessRunning(folder: string): (() => void) | null {
  try {
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof FolderInUse) return null
    throw error
  }
}

function schemaOf(database: string): number {
  const db = openToRead(database)
  try {
    return db.pragma('user_version', { simple: true }) as number
  } finally {
    db.close()
  }
}

export const userList: Command = {
  name: 'user list',
  summary: 'Lists the users of a data folder with their roles, also while the server runs.',
  flags: {
    ...DATA_FLAG,
    email: { type: 'string', value: 'E', meaning: 'Only the user with this e-mail address' },
    json: jsonFlag('Print {users: [{id, email, name, hasPassword, secondFactor, sessions, organizations}]} as JSON'),
  },
  async run(invocation) {
    const { email, json } = invocation.flags
    const users = await withDatabase(userList, invocation, (db) =>
      listUsers(db, systemClock, typeof email === 'string' ? email : null),
    )
    console.log(json ? JSON.stringify({ users }, null, 2) : users.map(lineOf).join('\n') || 'There are no users.')
    return 0
  },
}

function lineOf({ email, hasPassword, secondFactor, sessions, organizations }: UserRecord): string {
  const roles = organizations.map(
    ({ id, name, role, status }) => `${status === 'invited' ? 'invited as ' : ''}${role} of ${name} (${id})`,
  )
  const facts = [
    roles.join(', ') || 'no organization',
    hasPassword ? 'password' : 'no password',
    ...(secondFactor ? ['second factor'] : []),
    `sessions: ${sessions}`,
  ]
  return `${email}  ${facts.join('; ')}`
}

export const userPassword: Command = {
  name: 'user password',
  summary: "Sets a user's password from standard input, and ends the user's sessions and API keys. The server may run.",
  flags: {
    ...DATA_FLAG,
    email: EMAIL_FLAG,
    'password-stdin': { type: 'boolean', meaning: 'Read the password from standard input, which is the default' },
    'remove-second-factor': { type: 'boolean', meaning: 'Also remove the second factor, when the device is lost' },
    json: jsonFlag('Print {ok, userId, revokedKeys, endedSessions, secondFactorRemoved} as JSON'),
  },
  async run(invocation) {
    const email = required(userPassword, invocation, 'email')
    const { flags } = invocation
    const withoutSecondFactor = flags['remove-second-factor'] === true
    if (process.stdin.isTTY) console.error('Type the new password and press Enter, then Ctrl+D:')
    const password = (await Bun.stdin.text()).replace(/\r?\n$/, '')
    const done = await withDatabase(userPassword, invocation, (db) =>
      setPassword(db, systemClock, { email, password, withoutSecondFactor }),
    )
    const removed = done.secondFactorRemoved ? '; second factor removed' : ''
    const line = `password set; sessions ended: ${done.endedSessions}; API keys revoked: ${done.revokedKeys}${removed}`
    console.log(flags.json ? JSON.stringify(done) : line)
    return 0
  },
}

export const userRole: Command = {
  name: 'user role',
  summary: 'Gives a user a role in an organization, also while the server runs. Adds the user if necessary.',
  flags: {
    ...DATA_FLAG,
    email: EMAIL_FLAG,
    role: { type: 'string', value: 'ROLE', meaning: 'viewer, member, admin or owner' },
    org: {
      type: 'string',
      value: 'ORG',
      meaning: 'Id or name of the organization; may be omitted if there is only one',
    },
    json: jsonFlag('Print {ok, userId, orgId, role, before} as JSON'),
  },
  async run(invocation) {
    const email = required(userRole, invocation, 'email')
    const role = required(userRole, invocation, 'role')
    if (!ROLES.includes(role as Role)) throw new UsageError(`user role: --role must be one of ${ROLES.join(', ')}`)
    const { org, json } = invocation.flags
    const done = await withDatabase(userRole, invocation, (db) =>
      setRole(db, systemClock, { email, role: role as Role, org: typeof org === 'string' ? org : null }),
    )
    const line = `${email} is now ${done.role} of ${done.orgId}${done.before ? `; before: ${done.before}` : ''}`
    console.log(json ? JSON.stringify(done) : line)
    return 0
  },
}
