import pino from 'pino'
import type { Log } from '../app.ts'

/** Creates a log that writes JSON lines to stderr; stdout is for the output of commands. */
export function logTo(level: string): Log {
  const logger = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
  return {
    info: (message) => logger.info(message),
    warn: (message) => logger.warn(message),
    error: (error, message) => logger.error({ stack: error instanceof Error ? error.stack : String(error) }, message),
  }
}
