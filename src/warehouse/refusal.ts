import { ServiceError } from '../errors.ts'
import { withoutValues } from './safe-cause.ts'

/**
 * ClickHouse's codes for failures that the machine or its operator causes and that pass: the same call may succeed
 * later. All other failures are caused by a statement or its data, and come again. A row is set aside only for the
 * second kind, so the codes of a full disk must be listed here.
 */
export const passingCodes = {
  // Time, load, memory, threads.
  TIMEOUT_EXCEEDED: 159,
  TOO_SLOW: 160,
  SET_SIZE_LIMIT_EXCEEDED: 191,
  CANNOT_ALLOCATE_MEMORY: 173,
  QUOTA_EXCEEDED: 201,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  MEMORY_LIMIT_EXCEEDED: 241,
  TOO_MANY_PARTS: 252,
  RECEIVED_ERROR_TOO_MANY_REQUESTS: 364,
  SYSTEM_ERROR: 425,
  CANNOT_SCHEDULE_TASK: 439,
  DEADLOCK_AVOIDED: 473,
  DISTRIBUTED_TOO_MANY_PENDING_BYTES: 574,
  USER_SESSION_LIMIT_EXCEEDED: 700,
  SERVER_OVERLOADED: 745,
  RESOURCE_LIMIT_EXCEEDED: 776,
  MEMORY_RESERVATION_KILLED: 777,
  MEMORY_RESERVATION_FAILED: 778,
  // Disks and object stores; a full disk can have any of the first codes.
  CANNOT_READ_FROM_FILE_DESCRIPTOR: 74,
  CANNOT_WRITE_TO_FILE_DESCRIPTOR: 75,
  CANNOT_OPEN_FILE: 76,
  CANNOT_CLOSE_FILE: 77,
  CANNOT_TRUNCATE_FILE: 88,
  CANNOT_CREATE_DIRECTORY: 172,
  CANNOT_FSYNC: 204,
  CANNOT_STATVFS: 214,
  NOT_ENOUGH_SPACE: 243,
  AIO_READ_ERROR: 274,
  AIO_WRITE_ERROR: 275,
  CANNOT_WRITE_TO_FILE: 294,
  CANNOT_CREATE_FILE: 586,
  CANNOT_APPEND_TO_FILE: 641,
  S3_ERROR: 499,
  AZURE_BLOB_STORAGE_ERROR: 500,
  AWS_ERROR: 693,
  GCP_ERROR: 707,
  GOOGLE_CLOUD_ERROR: 737,
  // Exceptions of the libraries that ClickHouse uses: files, sockets, names.
  POCO_EXCEPTION: 1000,
  STD_EXCEPTION: 1001,
  // The network.
  CANNOT_READ_FROM_SOCKET: 95,
  CANNOT_WRITE_TO_SOCKET: 96,
  DNS_ERROR: 198,
  NO_FREE_CONNECTION: 203,
  SOCKET_TIMEOUT: 209,
  NETWORK_ERROR: 210,
  ALL_CONNECTION_TRIES_FAILED: 279,
  SHARD_HAS_NO_CONNECTIONS: 297,
  NO_REMOTE_SHARD_AVAILABLE: 519,
  TCP_CONNECTION_LIMIT_REACHED: 749,
  HTTP_CONNECTION_LIMIT_REACHED: 762,
  SESSION_REFUSED: 763,
  // Shutdown and cancellation.
  ABORTED: 236,
  QUERY_WAS_CANCELLED: 394,
  THREAD_WAS_CANCELED: 677,
  QUERY_WAS_CANCELLED_BY_CLIENT: 735,
  // Replicas and their keeper.
  NO_ZOOKEEPER: 225,
  TABLE_IS_READ_ONLY: 242,
  NO_ACTIVE_REPLICAS: 254,
  TOO_FEW_LIVE_REPLICAS: 285,
  UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE: 286,
  REPLICA_IS_NOT_IN_QUORUM: 289,
  UNKNOWN_STATUS_OF_INSERT: 319,
  // A mutation was taken, and a replica that is away carries it out later.
  UNFINISHED: 341,
  ALL_REPLICAS_ARE_STALE: 369,
  DATABASE_REPLICATION_FAILED: 571,
  DISTRIBUTED_BROKEN_BATCH_INFO: 588,
  TABLE_IS_BEING_RESTARTED: 733,
  KEEPER_EXCEPTION: 999,
  // The operator: credentials, grants, a schema that is not there yet.
  UNKNOWN_TABLE: 60,
  UNKNOWN_DATABASE: 81,
  READONLY: 164,
  UNKNOWN_USER: 192,
  WRONG_PASSWORD: 193,
  REQUIRED_PASSWORD: 194,
  IP_ADDRESS_NOT_ALLOWED: 195,
  TABLE_IS_DROPPED: 218,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
} as const

const passing: ReadonlySet<number> = new Set(Object.values(passingCodes))

/** The codes that say that this statement took too much: a smaller one may pass at once. */
const limitOfCode = new Map<number, 'time' | 'memory' | 'rows'>([
  // The rows that a join may hold.
  [passingCodes.SET_SIZE_LIMIT_EXCEEDED, 'rows'],
  [passingCodes.TIMEOUT_EXCEEDED, 'time'],
  [passingCodes.TOO_SLOW, 'time'],
  [passingCodes.QUERY_WAS_CANCELLED, 'time'],
  [passingCodes.CANNOT_ALLOCATE_MEMORY, 'memory'],
  [passingCodes.MEMORY_LIMIT_EXCEEDED, 'memory'],
  [passingCodes.MEMORY_RESERVATION_KILLED, 'memory'],
  [passingCodes.MEMORY_RESERVATION_FAILED, 'memory'],
])

/** Turns a failure of ClickHouse into ours. `code` is ClickHouse's, undefined if it gave none. */
export function warehouseFailure(
  what: string,
  code: number | undefined,
  cause: unknown
): ServiceError {
  const passes = code === undefined || passing.has(code)
  const limit = code === undefined ? undefined : limitOfCode.get(code)
  return new ServiceError(
    passes ? 'WAREHOUSE_UNAVAILABLE' : 'WAREHOUSE_REFUSED',
    passes ? `the warehouse could not take a ${what}` : `the warehouse refused a ${what}`,
    {
      cause: passes ? cause : withoutValues(code, cause),
      details: { what, clickhouseCode: code, ...(limit !== undefined && { limit }) },
    }
  )
}

/** Whether ClickHouse said that its disk has no room. Often it gives the code of a failed write instead. */
export function saysDiskFull(error: ServiceError): boolean {
  return error.details['clickhouseCode'] === passingCodes.NOT_ENOUGH_SPACE
}

/** Whether the statement or its data is at fault: the same call fails again. */
export function isRefused(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'WAREHOUSE_REFUSED'
}

/**
 * Whether a statement reached a limit of time, memory or rows. Either it is too heavy, and a part of it would pass,
 * or the warehouse has no room for anything; the error alone does not tell which.
 */
export function isBeyondLimit(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.details['limit'] !== undefined
}
