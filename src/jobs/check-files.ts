import type { FileCheck } from '../warehouse/file-check.ts'
import type { Job } from './job.ts'

/** Looks bit by bit, all in a day, whether the files of the history are still as they were written. */
export function checkFilesJob(files: Pick<FileCheck, 'round'>): Job {
  return { name: 'check files', pattern: '20 * * * * *', run: () => files.round() }
}
