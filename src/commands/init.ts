import { systemClock } from '../core/clock.ts'
import { checkEmail } from '../core/email-address.ts'
import { openStores } from '../data-folder/open-folder.ts'
import { checkName } from '../org/org.ts'
import { checkPassword } from '../org/password-hash.ts'
import { initialize } from '../org/store.ts'
import { type Command, required } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'

export const init: Command = {
  name: 'init',
  summary: 'Creates the organization, its owner and one API key, without a browser.',
  flags: {
    ...DATA_FLAG,
    org: { type: 'string', value: 'NAME', meaning: 'Name of the organization' },
    email: { type: 'string', value: 'E', meaning: 'E-mail address of the owner' },
    'password-stdin': { type: 'boolean', meaning: "Read the owner's password from standard input" },
    json: { type: 'boolean', meaning: 'Print {orgId, userId, apiKey} as JSON' },
  },
  async run(invocation) {
    const orgName = required(init, invocation, 'org')
    const email = required(init, invocation, 'email')
    const { flags } = invocation
    const password = flags['password-stdin'] ? (await Bun.stdin.text()).replace(/\r?\n$/, '') : null
    const { data } = configOf(invocation)
    // Input is checked first, so that no data folder is created when it is invalid.
    checkName(orgName, 'orgName')
    checkEmail(email)
    if (password !== null) await checkPassword(password, { known: [email, orgName] })
    const { db, box } = openStores(data, console.error)
    try {
      const made = await initialize(db, box, systemClock, { orgName, email, password })
      if (flags.json) console.log(JSON.stringify(made))
      else
        console.log(
          `organization ${made.orgId}\nowner        ${made.userId}\nAPI key      ${made.apiKey}  (shown only once)`,
        )
      return 0
    } finally {
      db.close()
    }
  },
}
