/** Content of the bus during a change of the number of nodes, in data/: records, keys and files. */
export const carriedFolder = 'bus-carried';
export const carriedBus = 'bus.sqlite';
export const carriedBlobs = 'blobs';
