import { browse } from './browse.ts'
import type { Command } from './command.ts'
import { config } from './config.ts'
import { decode } from './decode.ts'
import { demo } from './demo/demo.ts'
import { detect } from './detect.ts'
import { doctor } from './doctor.ts'
import { importEvents } from './import-events.ts'
import { importHar } from './import-har.ts'
import { init } from './init.ts'
import { judge } from './judge.ts'
import { serve } from './serve.ts'

/** Every subcommand, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  demo,
  init,
  importHar,
  importEvents,
  decode,
  detect,
  doctor,
  config,
  judge,
  browse,
]
