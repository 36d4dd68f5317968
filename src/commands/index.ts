import type { Command } from './command.ts'

/**
 * All commands by name, in the order of the help. Each command is loaded on demand, because most need only a small part
 * of the program, and loading all of it takes half a second of CPU time.
 */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  collect: async () => (await import('./collect.ts')).collect,
  demo: async () => (await import('./demo/demo.ts')).demo,
  init: async () => (await import('./init.ts')).init,
  'user list': async () => (await import('./user.ts')).userList,
  'user password': async () => (await import('./user.ts')).userPassword,
  'user role': async () => (await import('./user.ts')).userRole,
  'import har': async () => (await import('./import-har.ts')).importHar,
  'import events': async () => (await import('./import-events.ts')).importEvents,
  backup: async () => (await import('./backup.ts')).backup,
  'backup verify': async () => (await import('./backup-verify.ts')).backupVerify,
  'backup job': async () => (await import('./backup-job.ts')).backupJob,
  restore: async () => (await import('./restore.ts')).restore,
  retention: async () => (await import('./retention.ts')).retention,
  upgrade: async () => (await import('./upgrade.ts')).upgrade,
  resume: async () => (await import('./resume.ts')).resume,
  decode: async () => (await import('./decode.ts')).decode,
  verify: async () => (await import('./verify.ts')).verify,
  detect: async () => (await import('./detect.ts')).detect,
  doctor: async () => (await import('./doctor/doctor.ts')).doctor,
  'support-bundle': async () => (await import('./support-bundle/support-bundle.ts')).supportBundle,
  completion: async () => (await import('./completion.ts')).completionOf(commands),
  licenses: async () => (await import('./licenses.ts')).licenses,
  unpack: async () => (await import('./unpack.ts')).unpack,
  export: async () => (await import('./export.ts')).exportCommand,
  plan: async () => (await import('./apply.ts')).plan,
  apply: async () => (await import('./apply.ts')).apply,
  config: async () => (await import('./config.ts')).config,
  judge: async () => (await import('./judge.ts')).judge,
  'collectors add': async () => (await import('./collectors.ts')).collectorsAdd,
  'collectors list': async () => (await import('./collectors.ts')).collectorsList,
  'collectors remove': async () => (await import('./collectors.ts')).collectorsRemove,
  claims: async () => (await import('./claims.ts')).claims,
  draft: async () => (await import('./draft.ts')).draft,
  browse: async () => (await import('./browse.ts')).browse,
  holidays: async () => (await import('./holidays.ts')).holidays,
}
