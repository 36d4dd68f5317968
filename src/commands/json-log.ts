import pino from 'pino'
import type { Log } from '../app.ts'

/**
 * Creates a log that writes JSON lines to stderr; stdout is for the output of commands. A line has `level` (its name),
 * `time` (ms) and `msg`, and `requestId` if it belongs to a request.
 */
export function logTo(level: string): Log {
  const formatters = { level: (name: string) => ({ level: name }) }
  const logger = pino({ level, base: null, formatters }, pino.destination({ dest: 2, sync: true }))
  return {
    info: (message) => logger.info(message),
    warn: (message, requestId) => logger.warn({ requestId }, message),
    error: (error, message, requestId) =>
      logger.error({ requestId, stack: error instanceof Error ? error.stack : String(error) }, message),
  }
}
